"""Simple HTML pages: title, links, headings, table cells, the plain text."""

from __future__ import annotations

from habilis.demo.families.asked import Asked


class Pages(Asked):
    """Family of questions about one HTML file. Other documents have their own family."""

    name = "pages"
    needs_its_file = True
