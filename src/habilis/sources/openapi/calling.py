"""One call of an operation: within limits of time and size, its secret sent to no other host, failures as values."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from habilis.core.masker import MASKER
from habilis.core.types import CallOutcome, Effects, ErrorKind, ToolSpec
from habilis.runtime.egress.unpacking import ASKED, NotUnpacked, TooLarge, unpacked
from habilis.sources.foreign.answers import SHOWN_CHARS, failed, late, outcome_of
from habilis.sources.foreign.auth import Credentials, origin
from habilis.sources.foreign.presenting import one_line
from habilis.sources.openapi.operations import Operation
from habilis.sources.openapi.reaching import Origin, refusal
from habilis.sources.openapi.sending import ApiRequest, Unsendable, request_of

if TYPE_CHECKING:
    import httpx

MAX_REDIRECTS = 5
_BUSY = (408, 425, 429, 502, 503, 504)


@dataclass(frozen=True)
class Line:
    """The way to a service: its client, who asks, where that may be said (`home`), limits in seconds and bytes."""

    client: httpx.AsyncClient
    credentials: Credentials
    home: str
    timeout_s: float
    max_bytes: int
    known: frozenset[Origin] = frozenset()
    fetched: bool = False


@dataclass(frozen=True)
class OpenApiTool:
    """An operation as a tool (the port `ExternalTool`). Without a `line` it lacks what `lacking` says."""

    operation: Operation
    line: Line | None = None
    lacking: tuple[str, ...] = ()

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.operation.name, description=self.operation.description, parameters=self.operation.schema
        )

    @property
    def effects(self) -> Effects:
        return self.operation.effects

    @property
    def version(self) -> str:
        return self.operation.version

    def missing(self) -> tuple[str, ...]:
        return (*self.lacking, *([self.operation.unusable] if self.operation.unusable else []))

    async def call(self, arguments: Mapping[str, Any], *, workspace: Path) -> CallOutcome:
        if self.line is None:
            return failed("denied", "; ".join(self.missing()))
        try:
            request = request_of(self.operation, arguments)
        except Unsendable as error:
            return failed("invalid_arguments", str(error))
        return MASKER.outcome(await self._sent(request, self.line, workspace))

    async def _sent(self, request: ApiRequest, line: Line, workspace: Path) -> CallOutcome:
        import httpx

        try:
            async with asyncio.timeout(line.timeout_s):
                if inward := await refusal(request.url, line.known, fetched=line.fetched):
                    return failed("denied", f"not reached: {inward}. Go on without it.")
                return await _exchange(request, line, workspace)
        except (TimeoutError, httpx.TimeoutException):
            return late(line.timeout_s, self.effects)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError) as error:
            told = one_line(str(error) or type(error).__name__, 200)
            return failed("unavailable", f"the service cannot be reached ({told}); go on without it")


async def _exchange(request: ApiRequest, line: Line, workspace: Path) -> CallOutcome:
    """Send `request` and read the answer, following redirects as far as they may be followed."""
    import httpx

    url, method = httpx.URL(request.url).copy_merge_params(httpx.QueryParams(list(request.query))), request.method
    body, files = request.body, [(name, (None, text)) for name, text in request.files] or None
    for _ in range(MAX_REDIRECTS + 1):
        asks = line.credentials if origin(str(url)) == origin(line.home) else Credentials()
        sent_to = url.copy_merge_params(asks.query) if asks.query else url
        headers = {"Accept-Encoding": ASKED, **request.headers, **asks.headers}
        async with line.client.stream(method, sent_to, headers=headers, content=body, files=files) as reply:
            if not reply.has_redirect_location:
                return await _read(reply, line, workspace)
            target = urljoin(str(url), reply.headers["location"])
            if origin(target) != origin(str(url)):
                host = one_line(origin(target)[1], 100)
                return failed("denied", f"the service sends on to another place ({host}), which is not followed")
            if method not in ("GET", "HEAD") and reply.status_code not in (307, 308):
                return failed(
                    "bad_output", f"the service sends on elsewhere (HTTP {reply.status_code}) instead of answering"
                )
        url = httpx.URL(target)
    return failed("bad_output", f"the service sent on more than {MAX_REDIRECTS} times")


async def _read(reply: httpx.Response, line: Line, workspace: Path) -> CallOutcome:
    ok = reply.is_success
    try:
        body = await unpacked(reply.aiter_raw(), reply.headers.get("content-encoding", ""), line.max_bytes)
    except NotUnpacked as error:
        return failed("bad_output", f"the answer cannot be read: {error}; go on without it")
    except TooLarge as error:
        if ok:
            limit = f"{line.max_bytes >> 20} MiB"
            return failed(
                "bad_output", f"the answer is larger than {limit}; ask for less, with a filter or a page size"
            )
        body = error.begin
    if ok:
        return outcome_of(body, reply.headers.get("content-type", ""), workspace)
    return _refused(reply, body[: 8 * SHOWN_CHARS], line)


def _refused(reply: httpx.Response, body: bytes, line: Line) -> CallOutcome:
    """A status that is no success, in words that say whose turn it is."""
    status = reply.status_code
    # A secret must be found before the text is cut.
    said = one_line(MASKER.text(body.decode("utf-8", "replace")), SHOWN_CHARS)
    told = f"HTTP {status}{f': {said}' if said else ''}."
    kind: ErrorKind
    if status in (401, 407) or (status == 403 and not line.credentials.name):
        name = line.credentials.name
        who = f"The secret in {name} was not taken" if name else "The service wants to know who asks"
        kind, advice = "denied", f"{who}: only a person can mend that. Go on without this tool."
    elif status == 403:
        kind, advice = "denied", "This is not allowed to the one who asks. Ask for something else, or go on without."
    elif status in _BUSY:
        wait = one_line(reply.headers.get("retry-after", ""), 40)
        kind, advice = (
            "unavailable",
            f"The service is busy{f' (free in {wait} s)' if wait else ''}. Try once more later.",
        )
    elif 400 <= status < 500:
        kind, advice = "invalid_arguments", "Correct the arguments, or take another way."
    else:
        kind, advice = "unavailable", "The service itself failed. Try other arguments once, or go on without."
    return failed(kind, f"{told} {advice}")
