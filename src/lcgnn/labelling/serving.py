"""From what the user named to a page that is open: everything that ``lcgnn label`` does."""

from __future__ import annotations

import getpass
import socket
import threading
import webbrowser
from contextlib import suppress
from dataclasses import dataclass

from lcgnn.errors import ConfigError
from lcgnn.extras import need
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.opening import Opened
from lcgnn.labelling.pages import PURPOSE
from lcgnn.labelling.security import SHORTEST_PASSWORD, Guard, in_address, is_loopback
from lcgnn.labelling.server import create_app
from lcgnn.labelling.simulation import SimulatedLabeller

# Seconds that answers under way have when the server ends.
_PATIENCE = 1


@dataclass(frozen=True)
class Address:
    """Where the page is served.

    Args:
        host: A name or number of this machine.
        port: 0 for any that is free.
        allow_remote: Whether others than this machine may reach it.
        password: That others need.
    """

    host: str = "127.0.0.1"
    port: int = 0
    allow_remote: bool = False
    password: str | None = None

    def check(self) -> None:
        """Refuse an address that anybody could reach, unless that is meant and there is a password."""
        if is_loopback(self.host):
            return
        if not self.allow_remote:
            raise ConfigError(
                f"--host {self.host} lets other machines reach the page. If you mean that, add --allow-remote and "
                "a password (--password-file); safer is a tunnel: ssh -L."
            )
        if self.password is None or len(self.password) < SHORTEST_PASSWORD:
            raise ConfigError(
                f"Where other machines can reach the page it needs a password of {SHORTEST_PASSWORD} characters "
                "or more: --password-file FILE."
            )

    def listening(self) -> socket.socket:
        """A socket that listens there; ConfigError if the port is taken or the address is not this machine's."""
        if not 0 <= self.port < 2**16:
            raise ConfigError(f"There is no port {self.port}; they go up to 65535, and 0 is any that is free.")
        try:
            family, kind, protocol, _, place = socket.getaddrinfo(
                self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            found = socket.socket(family, kind, protocol)
        except (OSError, OverflowError) as error:
            raise ConfigError(f"--host {self.host} is no address of this machine ({error}).") from error
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(place)
            found.listen(128)
        except (OSError, OverflowError) as error:
            found.close()
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(
                f"Port {self.port} of {self.host} cannot be used ({reason}). Choose another with --port, or leave "
                "it out for any that is free."
            ) from error
        return found


class Serving:
    """A page that is served until it is stopped.

    Args:
        loop: What goes on behind it.
        address: Where.
    """

    def __init__(self, loop: Loop, address: Address) -> None:
        uvicorn = need("uvicorn", PURPOSE)
        self.loop, self._labeller = loop, SimulatedLabeller(loop)
        self._socket = address.listening()
        self.host, self.port = address.host, int(self._socket.getsockname()[1])
        self.guard = Guard(self.port, not is_loopback(self.host), address.password, self.host)
        app = create_app(loop, self.guard, lambda: self._server.should_exit)
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="off",
            timeout_graceful_shutdown=_PATIENCE,
            ws="none",
        )
        self._server = uvicorn.Server(config)

    @property
    def link(self) -> str:
        """The address that opens the page, once."""
        return f"http://{in_address(self.host)}:{self.port}/?token={self.guard.token}"

    @property
    def words(self) -> tuple[str, ...]:
        """What somebody has to know who wants to open it, a line each."""
        loop = self.loop
        in_tables = (
            f"; {loop.opened.graph.labelled.size:,} in the tables" if loop.opened.graph.labelled.size else ""
        )
        return (
            f"Labels go to {loop.opened.ledger} ({loop.ledger.given.num_labels:,} there{in_tables}).",
            f"Open {self.link}",
            "The link works once. Ctrl-C ends the page; labels are kept.",
        )

    @property
    def last_words(self) -> str:
        """What is kept when it has ended."""
        kept = self.loop.ledger.given.num_labels
        if not kept:
            return "No label was given. Give the command again to go on."
        opened = self.loop.opened
        return (
            f"{kept:,} label{' is' if kept == 1 else 's are'} in {opened.ledger}. To go on, give the command "
            f"again. To train on {'it' if kept == 1 else 'them'}: {opened.next_command}"
        )

    def open_browser(self) -> None:
        """Have the page opened by the user's browser, which may take its time."""
        threading.Thread(target=webbrowser.open, args=(self.link,), daemon=True).start()

    def run(self) -> None:
        """Serve until somebody interrupts it."""
        try:
            # What it does when it is interrupted is done by then.
            with suppress(KeyboardInterrupt):
                self.loop.start()
                self._labeller.start()
                self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def close(self) -> None:
        """End everything that goes on."""
        self._socket.close()
        self._labeller.close()
        self.loop.close()


def check_installed() -> None:
    """Raise ExtraError in one line if the libraries of the page are not there."""
    need("starlette.applications", PURPOSE)
    need("uvicorn", PURPOSE)


def prepare(opened: Opened, address: Address | None = None) -> Serving:
    """The page of a graph, ready to be served; ConfigError or OutputError in one line if it cannot be.

    Args:
        opened: The graph.
        address: Where the page is served; by default on this machine, at any port that is free.
    """
    address = address or Address()
    address.check()
    return Serving(Loop(opened, by=_who()), address)


def _who() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "page"
