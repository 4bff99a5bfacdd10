"""The library as other programs open it: what `from habilis import Library` gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from habilis.tools.library import Library

if TYPE_CHECKING:
    from habilis.tools.exchange.langchain import LangChainTools


class CallableLibrary(Library):
    """A library whose tools other programs call; `habilis.Library`."""

    def as_langchain_tools(self, *names: str, **options: Any) -> LangChainTools:
        """The tools, or those of `names`, for any LangChain agent; each call sandboxed (see `LangChainTools`)."""
        from habilis.tools.exchange.langchain import LangChainTools

        return LangChainTools(self, names, **options)
