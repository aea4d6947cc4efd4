"""What every route of the page's server answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs

from lcgnn.errors import ConfigError, DataError, LCGNNError, OutputError
from lcgnn.extras import need
from lcgnn.labelling.export import Export, exported
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.messages import to_json
from lcgnn.labelling.security import SLOWED, Guard
from lcgnn.labelling.view import View

if TYPE_CHECKING:
    from starlette.requests import Request

Response: TypeAlias = Any
"""Starlette's, which is there only where the extra is installed."""

PURPOSE = "The page of lcgnn label"
_LARGEST_BODY = 64 * 1024
# Seconds between two looks whether anything changed, and between two signs of life.
_LOOK, _ALIVE = 0.1, 15.0
_LOGIN = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>lcgnn label</title>'
    '<meta name="viewport" content="width=device-width"><h1>lcgnn label</h1>'
    '<form method="post" action="/login"><label>Password <input type="password" name="password" autofocus></label>'
    " <button>Open</button></form></html>"
)
_ENTERED = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>lcgnn label</title>'
    '<link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url=/">'
    '<a href="/">lcgnn label</a></html>'
)
_NO_ENTRY = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>lcgnn label</title><h1>lcgnn label</h1>'
    "<p>Open the link that the command printed; it works once. If it was used, go back to that browser, or start "
    "the command again: labels are kept.</p></html>"
)


class Pages:
    """What every route answers.

    Args:
        loop: What goes on.
        guard: Who may see it.
        is_ending: Whether the server is about to end, so that no answer goes on for ever.
    """

    def __init__(self, loop: Loop, guard: Guard, is_ending: Callable[[], bool]) -> None:
        self.loop, self.view, self.guard, self.is_ending = loop, View(loop), guard, is_ending
        self.responses = need("starlette.responses", PURPOSE)
        self._logging_in = asyncio.Lock()

    def index(self, request: Request) -> Response:
        token = request.query_params.get("token")
        if token is not None:
            return self._entered(self.guard.enter(token))
        if not self.is_known(request):
            page = _LOGIN if self.guard.password is not None else _NO_ENTRY
            return self.responses.HTMLResponse(page, HTTPStatus.FORBIDDEN)
        return self._static("index.html")

    async def login(self, request: Request) -> Response:
        given = parse_qs((await _body(request)).decode(errors="replace")).get("password", [""])[0]
        # One after the other, and in no thread that somebody who labels waits for.
        async with self._logging_in:
            session = self.guard.log_in(given)
            if session is None:
                await asyncio.sleep(SLOWED)
        return self._entered(session)

    def _entered(self, session: str | None) -> Response:
        if session is None:
            page = _LOGIN if self.guard.password is not None else _NO_ENTRY
            return self.responses.HTMLResponse(page, HTTPStatus.FORBIDDEN)
        # Not a redirect: where another site's page had the link, browsers would send no strict cookie with it.
        answer = self.responses.HTMLResponse(_ENTERED)
        answer.set_cookie(self.guard.cookie, session, httponly=True, samesite="strict", path="/")
        return answer

    def is_known(self, request: Request) -> bool:
        """Whether a request comes from a browser that was let in."""
        return self.guard.knows(request.cookies.get(self.guard.cookie, ""))

    def static(self, request: Request) -> Response:
        return self._static(request.path_params["path"])

    def _static(self, name: str) -> Response:
        folder = Path(str(resources.files("lcgnn.labelling").joinpath("static"))).resolve()
        # Looked for among the names that there are: what is asked for may be no name at all.
        found = next((path for path in folder.rglob("*") if path.relative_to(folder).as_posix() == name), None)
        if found is None or not found.is_file():
            return self._refused(HTTPStatus.NOT_FOUND, "There is no such file.")
        return self.responses.FileResponse(found)

    def graph(self, request: Request) -> Response:
        del request
        return self._json(to_json(self.view.graph()))

    def layout(self, request: Request) -> Response:
        del request
        return self._bytes(self.view.layout.places.astype("<f4").tobytes())

    def edges(self, request: Request) -> Response:
        del request
        return self._bytes(self.view.layout.edges.astype("<u4").tobytes())

    def state(self, request: Request) -> Response:
        del request
        return self._json(to_json(self.view.state()))

    def answers(self, request: Request) -> Response:
        del request
        return self._bytes(self.view.answers())

    def card(self, request: Request) -> Response:
        del request
        return self._json(to_json(self.view.card()))

    def after(self, request: Request) -> Response:
        del request
        return self._json(to_json(self.view.after()))

    def node(self, request: Request) -> Response:
        return self._json(to_json(self.view.node(self._node(request.path_params["node"]))))

    def explain(self, request: Request) -> Response:
        return self._json(to_json(None, **self.view.explain(self._node(request.path_params["node"])).to_json()))

    def search(self, request: Request) -> Response:
        return self._json(to_json(None, found=self.view.search(request.query_params.get("q", "")[:1000])))

    async def act(self, request: Request) -> Response:
        """Do what a person did on the page, and answer with what comes next."""
        content = _parsed(await _body(request))
        action = request.path_params["action"]
        await asyncio.to_thread(self._carry_out, action, content)
        state, card = await asyncio.to_thread(lambda: (self.view.state(), self.view.card()))
        return self._json(to_json(None, state=state, card=card))

    def _carry_out(self, action: str, content: dict[str, Any]) -> None:
        loop = self.loop
        if action == "label":
            label = content.get("class")
            loop.label(
                self._node(content.get("node")), label if isinstance(label, str) else _whole(label, "class")
            )
        elif action == "skip":
            loop.skip(self._node(content.get("node")))
        elif action == "unsure":
            loop.unsure(self._node(content.get("node")))
        elif action == "undo":
            loop.undo()
        elif action == "classes":
            loop.change_classes(content.get("action"), content.get("name"), content.get("to"))  # type: ignore[arg-type]
        elif action == "simulate":
            loop.simulate(content.get("on") is True)
        else:
            raise DataError(f"There is no action {action[:40]!r}.")

    def events(self, request: Request) -> Response:
        return self.responses.StreamingResponse(self._events(request), media_type="text/event-stream")

    async def _events(self, request: Request) -> AsyncIterator[bytes]:
        told, quiet = -1, 0.0
        while not self.is_ending() and not await request.is_disconnected():
            revision = self.loop.revision
            if revision != told:
                told, quiet = revision, 0.0
                yield f'event: state\ndata: {{"revision": {revision}}}\n\n'.encode()
            elif quiet > _ALIVE:
                quiet = 0.0
                yield b": alive\n\n"
            await asyncio.sleep(_LOOK)
            quiet += _LOOK

    def export(self, request: Request) -> Response:
        found: Export = exported(self.loop, self.view, request.path_params["name"])
        # A page that is exported is never shown in the place of this one.
        headers = {"Content-Disposition": f'attachment; filename="{found.file_name}"'}
        return self.responses.Response(found.content, media_type=found.media_type, headers=headers)

    def _node(self, number: Any) -> int:
        node = _whole(number, "node")
        if not 0 <= node < self.loop.opened.graph.num_nodes:
            raise DataError(f"There is no node {node}; the graph has {self.loop.opened.graph.num_nodes:,}.")
        return node

    def _json(self, content: bytes) -> Response:
        return self.responses.Response(content, media_type="application/json")

    def _bytes(self, content: bytes) -> Response:
        return self.responses.Response(content, media_type="application/octet-stream")

    def _refused(self, status: int, words: str) -> Response:
        return self.responses.Response(to_json(None, error=words), status, media_type="application/json")

    def refused(self, request: Request) -> Response | None:
        """The answer to a request that must not get any further; None for one that may."""
        refusal = self.guard.refusal(request.method, request.url.path, request.headers)
        if refusal is not None:
            return self._refused(HTTPStatus.FORBIDDEN, refusal)
        if request.url.path not in ("/", "/login") and not self.is_known(request):
            return self._refused(HTTPStatus.UNAUTHORIZED, "Open the link that lcgnn label printed.")
        return None

    async def not_served(self, request: Request, error: Any) -> Response:
        """That there is nothing at an address, or not in that way."""
        del request
        return self._refused(error.status_code, f"{error.detail}.")

    async def broken(self, request: Request, error: Exception) -> Response:
        """That something went wrong that nobody thought of."""
        del request
        return self._refused(
            HTTPStatus.INTERNAL_SERVER_ERROR, f"Something went wrong in the server ({type(error).__name__})."
        )

    async def failed(self, request: Request, error: Exception) -> Response:
        """An error that a person can do something about, as one line."""
        del request
        return self._refused(_status(error), str(error))


class _TooLarge(LCGNNError):
    """A request is larger than any that the page sends."""


def _status(error: Exception) -> int:
    if isinstance(error, _TooLarge):
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if isinstance(error, OutputError):
        return HTTPStatus.INSUFFICIENT_STORAGE
    return HTTPStatus.NOT_FOUND if isinstance(error, DataError) else HTTPStatus.BAD_REQUEST


async def _body(request: Request) -> bytes:
    """What was sent; refused as soon as it is too large."""
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > _LARGEST_BODY:
            raise _TooLarge(f"The request is larger than {_LARGEST_BODY // 1024} KB. Give something shorter.")
    return content


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ConfigError("The request is no JSON.") from error
    if not isinstance(content, dict):
        raise ConfigError("The request is no JSON object.")
    return content


def _whole(value: Any, what: str) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ConfigError(f"The {what} must be a whole number.")
    return value
