"""How `make docs` builds the site: every Markdown page of the project, from the top folder, every link checked.

Nothing is fetched while it is built, and the pages ask for nothing from another server.
"""

from __future__ import annotations

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "Habilis"
author = "The Habilis authors"
copyright = author
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "examples/**.md",
    "benchmarks/README.md",
    "runs/README.md",
]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]
"""A sample with an ellipsis in it is no perfect JSON."""
html_theme = "furo"
html_title = "Habilis"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_extra_path = ["front"]
"""The first page of the site, which leads to that of the documentation."""


def setup(app: Sphinx) -> None:
    """Show the drawings of ARCHITECTURE.md as the text that they are: their script would come from elsewhere."""
    app.add_lexer("mermaid", TextLexer)
