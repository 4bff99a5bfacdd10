"""A library's tools as LangChain tools, each call sandboxed: `Library(path).as_langchain_tools()`.

The host that runs them lives on an event loop of its own in a thread, so that they work from ordinary code and from
any event loop alike. `close`, a `with` block, or the end of the program end it.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.tools import StructuredTool, ToolException

from habilis.config import load_settings
from habilis.contract.records import set_error
from habilis.exchange.calling import Caller
from habilis.messages.naming import unique_names

if TYPE_CHECKING:
    from habilis.config import Settings
    from habilis.core.types import CallOutcome
    from habilis.library import Library, Tool
    from habilis.runtime.host import ToolHost

_CLOSE_S = 10.0
_T = TypeVar("_T")


class CallableTools(list[StructuredTool]):
    """A list of tools, with what it takes to run them. A tool's failure is a result that says so (`status="error"`)."""

    def __init__(
        self,
        library: Library,
        names: Sequence[str] = (),
        *,
        settings: Settings | None = None,
        workspace: Path | None = None,
        host: ToolHost | None = None,
    ) -> None:
        """`names`: these alone. Raises `KeyError` for one that the library has not, or that cannot work here."""
        self._loop = _Loop()
        chosen = settings or load_settings()
        self._caller = Caller(library, chosen, workspace=workspace, names=names, host=host)
        self._closing = weakref.finalize(self, _close, self._loop, self._caller)
        tools = self._caller.tools()
        if lost := set(names) - {tool.name for tool in tools}:
            self.close()
            raise KeyError(f"no tool {', '.join(sorted(lost))} can be called from {library.path}")
        sent = unique_names([tool.spec.name for tool in tools])
        super().__init__(self._made(tool, name) for tool, name in zip(tools, sent, strict=True))

    def close(self) -> None:
        """End all that runs. The tools cannot be called any more."""
        self._closing()

    async def aclose(self) -> None:
        """The same, without holding up an event loop."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> CallableTools:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> CallableTools:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _made(self, tool: Tool, name: str) -> StructuredTool:
        # Both hold this list, so that what runs the tools is there as long as any of them is.
        def run(**arguments: Any) -> Any:
            return _output(self._loop.run(self._caller.call(tool, arguments)))

        async def arun(**arguments: Any) -> Any:
            return _output(await self._loop.arun(self._caller.call(tool, arguments)))

        return StructuredTool(
            name=name,
            description=tool.description,
            args_schema=tool.input_schema,
            func=run,
            coroutine=arun,
            handle_tool_error=True,
            metadata={"version": tool.version, "effects": tool.effects},
        )


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="habilis-tools")
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run `work` there, and wait. Ctrl-C ends it."""
        future = self._submitted(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def arun(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run `work` there. Cancellation ends it there too."""
        return await asyncio.wrap_future(self._submitted(work))

    def is_here(self) -> bool:
        """Whether this is its own thread, which cannot wait for itself."""
        return threading.current_thread() is self._thread

    def close(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_CLOSE_S)
            self._loop.close()

    def _submitted(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("these tools were closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop)


def _close(loop: _Loop, caller: Caller) -> None:
    if loop.is_here():  # the list was found to be garbage while a call ran
        threading.Thread(target=_close, args=(loop, caller), name="habilis-closing").start()
        return
    try:
        loop.run(caller.aclose())
    finally:
        loop.close()


def _output(outcome: CallOutcome) -> Any:
    """What a tool gave. Raises `ToolException`, which LangChain makes a result of, when it gave an error."""
    if outcome.error is not None:
        raise ToolException(f"{outcome.error.kind}: {outcome.error.message}")
    if error := set_error(outcome.output):
        raise ToolException(error)
    return _plain(outcome.output)


def _plain(output: Any) -> Any:
    """An output without the error field that is not set."""
    if isinstance(output, Mapping):
        return {key: value for key, value in output.items() if key != "error" or value}
    return output
