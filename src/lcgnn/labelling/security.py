"""Who may talk to the server: this machine's own browser, which came by the link that was printed."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

# A password that somebody else could guess over the network is none.
SHORTEST_PASSWORD = 8
# Seconds that every wrong password costs, one after the other.
SLOWED = 1.0
_MOST_SESSIONS = 100

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def in_address(host: str) -> str:
    """A host as it stands in an address, before the port."""
    return f"[{host}]" if ":" in host else host


@dataclass
class Guard:
    """Lets in who has the link or the password, and knows them again by a cookie.

    Args:
        port: Of the server.
        remote: Whether others than this machine can reach it.
        password: That lets in as well; None for none.
        host: That the server listens on, by which it may be called beside this machine's usual names.
    """

    port: int
    remote: bool = False
    password: str | None = None
    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _sessions: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _used: bool = False

    @property
    def cookie(self) -> str:
        """The cookie's name; browsers share cookies between the ports of a host."""
        return f"lcgnn-label-{self.port}"

    def enter(self, token: str) -> str | None:
        """A session for who has the token, which works once; None for anybody else."""
        with self._lock:
            if self._used or not hmac.compare_digest(token.encode(), self.token.encode()):
                return None
            self._used = True
            return self._session()

    def log_in(self, password: str) -> str | None:
        """A session for who knows the password; whoever asks lets time pass after a wrong one."""
        with self._lock:
            if self.password is not None and hmac.compare_digest(password.encode(), self.password.encode()):
                return self._session()
            return None

    def knows(self, session: str) -> bool:
        """Whether a cookie's value is that of a session."""
        return any(hmac.compare_digest(session.encode(), known.encode()) for known in self._sessions)

    def _session(self) -> str:
        self._sessions = [*self._sessions, secrets.token_urlsafe(32)][-_MOST_SESSIONS:]
        return self._sessions[-1]

    def refusal(self, method: str, path: str, headers: Mapping[str, str]) -> str | None:
        """Why a request is refused before anybody looks at its cookie; None if it is not.

        A page of another site may send requests here, and a name of its own may lead to this machine (DNS
        rebinding): the first is seen by ``Origin``, the second by ``Host``.
        """
        host = headers.get("host", "")
        if not self.remote and not self._is_own(host):
            return "This server answers only to its own address."
        is_link = method == "GET" and path == "/"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not is_link:
            return "This request comes from another site."
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return "This request comes from another site."
        if method not in ("GET", "HEAD") and origin is None:
            return "This request does not say where it comes from."
        return None

    def _is_own(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        own = in_address(self.host)
        return bool(colon) and port == str(self.port) and name in (own, "127.0.0.1", "localhost", "[::1]")
