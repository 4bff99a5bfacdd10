"""Who may look: whoever has the token, from this machine, by the address that was printed. Other sites may not."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NAMES = ("127.0.0.1", "localhost")
METRICS = "/metrics"
"""The one path for a program, which brings the token in each request (RFC 6750 §2.1)."""


@dataclass
class Guard:
    """Stands before `app`, which listens at `port`.

    The first visit brings the token in its address and is given a cookie for it, which no other site can send. The
    names in `Host` are checked, so that no foreign name that leads to this machine is one of ours (DNS rebinding).
    """

    app: ASGIApp
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """What to open first."""
        return f"http://{NAMES[0]}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers do not tell ports of one name apart."""
        return f"habilis_view_{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        """What to answer instead; None for one who may look."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in {f"{name}:{self.port}" for name in NAMES}:
            return PlainTextResponse("This address is not one of the viewer's.", 421)
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return PlainTextResponse("Another site may not ask here.", 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("There is nothing to be changed here.", 405, {"Allow": "GET, HEAD"})
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        brought = [value for name, value in query if name == "token"]
        if brought and _same(brought[0], self.token):
            return self._welcome(scope, [pair for pair in query if pair[0] != "token"])
        if scope["path"] == METRICS and _same(headers.get("authorization", ""), f"Bearer {self.token}"):
            return None
        if not _same(self._cookie_of(headers), self.session):
            return PlainTextResponse("Open the address that 'habilis view' printed: it has the token.", 403)
        return None

    def _welcome(self, scope: Scope, query: list[tuple[str, str]]) -> Response:
        """The cookie, and the way to the same page without the token in its address."""
        path = "/" + scope.get("raw_path", b"/").decode("latin-1").lstrip("/")
        reply = RedirectResponse(path + (f"?{urlencode(query)}" if query else ""), 303)
        reply.set_cookie(self.cookie, self.session, httponly=True, samesite="strict", path="/")
        return reply

    def _cookie_of(self, headers: Headers) -> str:
        try:
            held = SimpleCookie("; ".join(headers.getlist("cookie"))).get(self.cookie)
        except CookieError:
            return ""
        return held.value if held is not None else ""


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())
