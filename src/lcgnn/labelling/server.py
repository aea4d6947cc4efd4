"""The web server of the page: its routes, and what stands before all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lcgnn.errors import LCGNNError
from lcgnn.extras import need
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.pages import PURPOSE, Pages
from lcgnn.labelling.security import HEADERS, Guard


def create_app(loop: Loop, guard: Guard, is_ending: Callable[[], bool] = lambda: False) -> Any:
    """The server's routes around a loop.

    Args:
        loop: What goes on.
        guard: Who may see it.
        is_ending: Whether the server is about to end.
    """
    applications, routing = need("starlette.applications", PURPOSE), need("starlette.routing", PURPOSE)
    middleware, exceptions = need("starlette.middleware", PURPOSE), need("starlette.exceptions", PURPOSE)
    pages = Pages(loop, guard, is_ending)
    get, post = ["GET"], ["POST"]
    routes = [
        routing.Route("/", pages.index, methods=get),
        routing.Route("/login", pages.login, methods=post),
        routing.Route("/static/{path:path}", pages.static, methods=get),
        routing.Route("/api/graph", pages.graph, methods=get),
        routing.Route("/api/layout.bin", pages.layout, methods=get),
        routing.Route("/api/edges.bin", pages.edges, methods=get),
        routing.Route("/api/state", pages.state, methods=get),
        routing.Route("/api/answers.bin", pages.answers, methods=get),
        routing.Route("/api/card", pages.card, methods=get),
        routing.Route("/api/after", pages.after, methods=get),
        routing.Route("/api/node/{node}", pages.node, methods=get),
        routing.Route("/api/explain/{node}", pages.explain, methods=get),
        routing.Route("/api/search", pages.search, methods=get),
        routing.Route("/api/events", pages.events, methods=get),
        routing.Route("/api/export/{name}", pages.export, methods=get),
        routing.Route("/api/{action}", pages.act, methods=post),
    ]
    return applications.Starlette(
        routes=routes,
        middleware=[middleware.Middleware(Guarded, pages=pages)],
        exception_handlers={
            LCGNNError: pages.failed,
            exceptions.HTTPException: pages.not_served,
            Exception: pages.broken,
        },
    )


class Guarded:
    """Stands before all routes: refuses who must not be answered, and gives every answer what protects it.

    Args:
        app: Everything behind it.
        pages: Who knows who may be answered.
    """

    def __init__(self, app: Any, pages: Pages) -> None:
        self.app, self.pages = app, pages
        self.request = need("starlette.requests", PURPOSE).Request

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return

        async def protected(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *own]}
            await send(message)

        refused = self.pages.refused(self.request(scope))
        await (self.app if refused is None else refused)(scope, receive, protected)
