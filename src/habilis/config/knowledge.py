"""What tasks may look up: documents of the user's own, and the web."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from habilis.core.types import Frozen


class KnowledgeSettings(Frozen):
    """Documents of the user's own, in whose text tasks may search."""

    folders: tuple[str, ...] = Field(
        (), description="folders of text, Markdown, HTML and PDF that search_documents reads"
    )
    top_k: int = Field(5, ge=1, le=50, description="most passages that one search returns")
    threshold: float = Field(
        0.15, ge=0, le=1, description="least relevance of a passage; 0.5: each word of the query once"
    )


class WebSearchSettings(Frozen):
    """The service behind web_search."""

    service: Literal["tavily", "searxng"] | None = Field(
        None, description="tavily: with the key in TAVILY_API_KEY; searxng: your own server; unset: no web_search"
    )
    url: str | None = Field(None, description="address of the service; needed for searxng: https://host[:port]")


class WebSettings(Frozen):
    """Reading the web. What may be reached is for capabilities.network to say."""

    read_page: bool = Field(False, description="offer read_page, which returns the text of a page on a granted host")
    search: WebSearchSettings = WebSearchSettings()
