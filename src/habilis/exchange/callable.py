"""The library as other programs open it: what `from habilis import Library` gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from habilis.library import Library

if TYPE_CHECKING:
    from habilis.exchange.langchain import CallableTools


class CallableLibrary(Library):
    """A library whose tools other programs call; `habilis.Library`."""

    def as_langchain_tools(self, *names: str, **options: Any) -> CallableTools:
        """The tools, or those of `names`, for any LangChain agent; each call sandboxed (see `CallableTools`)."""
        from habilis.exchange.langchain import CallableTools

        return CallableTools(self, names, **options)
