"""The pages over HTTP, and what runs as it goes on (server-sent events)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from habilis.core.errors import UserError
from habilis.view.rendering import render
from habilis.view.site import NoSuchPage, Site, task_of
from habilis.view.task import LIVE

LOOK_EVERY_S = 0.1
"""How often a log is looked at while somebody watches: a `stat` of it and one of the state cost the task nothing."""
ASK_EVERY_S = 1.0
"""How often it is asked whether a silent task still has its process, which takes a look at its lock."""
ALIVE_EVERY_S = 15.0


def app_of(site: Site, is_ending: Callable[[], bool] = lambda: False) -> Starlette:
    """The pages of `site` as an ASGI application, without anybody who guards it. Streams end once `is_ending`."""

    def stream(files: Sequence[Path], state: Path, is_live: Callable[[], bool]) -> Response:
        return StreamingResponse(_changes(files, state, is_live, is_ending), media_type="text/event-stream")

    async def live_task(request: Request) -> Response:
        try:
            task = task_of(site.run(request.path_params["run"]), request.path_params["task"])
        except NoSuchPage as missing:
            return _problem(site, 404, missing)
        return stream((task.events,), task.state, lambda: task.read_state() in LIVE)

    async def live_run(request: Request) -> Response:
        try:
            run = site.run(request.path_params["run"])
        except NoSuchPage as missing:
            return _problem(site, 404, missing)
        files = [run.path / name for name in ("events.jsonl", "metrics.jsonl", "predictions.jsonl")]
        return stream(files, run.path / "state.json", lambda: run.state() == "running")

    async def page(request: Request) -> Response:
        path = request.scope["raw_path"].decode("latin-1").lstrip("/")
        return await run_in_threadpool(_answer, site, path, dict(request.query_params))

    return Starlette(
        routes=[
            Route("/runs/{run}/tasks/{task}/live", live_task),
            Route("/runs/{run}/live", live_run),
            Route("/{path:path}", page),
        ]
    )


def _answer(site: Site, path: str, query: dict[str, str]) -> Response:
    try:
        found = site.page(path, query)
    except NoSuchPage as missing:
        return _problem(site, 404, missing)
    except (UserError, OSError) as error:
        return _problem(site, 500 if isinstance(error, OSError) else 404, error)
    headers = {"Content-Disposition": f'attachment; filename="{found.download}"'} if found.download else None
    return Response(found.body, media_type=found.media_type, headers=headers)


def _problem(site: Site, status: int, error: Exception) -> Response:
    heading = "Not here" if status == 404 else "This cannot be read"
    text = render("problem.html", "", static=False, linked=site.linked, heading=heading, text=str(error))
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


async def _changes(
    files: Sequence[Path], state: Path, is_live: Callable[[], bool], is_ending: Callable[[], bool]
) -> AsyncIterator[str]:
    """`changed` at once and whenever one of `files` is another one, `ended` when nothing comes any more."""
    seen: object = None
    asked: object = None
    live, unasked, silent = True, 0.0, 0.0
    while not is_ending():
        state_now = _stamp(state)
        if state_now != asked or unasked >= ASK_EVERY_S:
            asked, unasked, live = state_now, 0.0, is_live()
        now = [_stamp(path) for path in files]  # after that: what came last is told of before the end
        if now != seen:
            seen, silent = now, 0.0
            yield "event: changed\ndata:\n\n"
        elif silent >= ALIVE_EVERY_S:
            silent = 0.0
            yield ": still here\n\n"
        if not live:
            yield "event: ended\ndata:\n\n"
            return
        await asyncio.sleep(LOOK_EVERY_S)
        unasked, silent = unasked + LOOK_EVERY_S, silent + LOOK_EVERY_S


def _stamp(path: Path) -> tuple[int, int]:
    with contextlib.suppress(OSError):
        found = path.lstat()
        return found.st_size, found.st_mtime_ns
    return 0, 0
