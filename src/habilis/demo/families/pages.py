"""Simple HTML pages: title, links, headings, table cells, the plain text."""

from __future__ import annotations

import re
from typing import Any

from habilis.demo.operations import Example, Operation, Slot, SlotType, worded
from habilis.demo.world import MARK, Call, View, World

PATH = Slot("path", "string", "path of the HTML file", ("html_path", "file_path", "page_path"))
LEVEL = Slot("level", "string", "all, or one level from h1 to h6", ("level", "heading_level", "tag"))
COLUMN = Slot("column", "string", "header of the column", ("column", "column_name", "header"))
ROW = Slot("row", "string", "what the row begins with", ("row", "row_name", "row_label"))
SMALL = (
    "<html><head><title>Ports</title></head><body><h1>Ports</h1><h2>North</h2>"
    '<p>See <a href="map.html">the map</a>.</p>'
    "<table><tr><th>Port</th><th>Depth</th></tr><tr><td>Brill</td><td>12</td></tr></table></body></html>"
)
ENDINGS = (".html", ".htm", ".xhtml")


def _of_page(
    key: str, what: str, result: SlotType, output: tuple[str, ...], names: tuple[tuple[str, str, str], ...],
    mark: str, finding: str, compute: str, more: tuple[Slot, ...] = (), example: dict[str, Any] | None = None,
    source: str = "page",
) -> Operation:  # fmt: skip
    slot = Slot("found", result, "what was found", output)
    return Operation(
        key=key,
        description=f"{{word}} {what}.",
        inputs=(PATH, *more),
        output=slot,
        wordings=worded((PATH, *more, slot), *names),
        marks=(mark, "html"),
        bars="csv|json|regular expression",
        example=Example({"path": "small.html", **(example or {})}, {"small.html": SMALL}),
        finding=finding,
        naive=f"{source}_naive",
        robust=f"{source}_robust",
        effects="reads",
        fill={"compute": compute},
    )


TITLE = _of_page(
    "page_title", "of an HTML page, from its head", "string", ("title", "page_title", "result"),
    (("", "read_page_title", "Title"), ("", "get_html_title", "Title"), ("", "extract_title_of_page", "Title")),
    "title of", 'the title of {path} is "{value}"', "", source="page_title",
)  # fmt: skip
LINKS = _of_page(
    "page_links", "of an HTML page, as written in it, in their order", "array_of_strings", ("links", "urls", "hrefs"),
    (("extract", "extract_links_from_html", "Targets of the links"), ("", "list_page_links", "Targets of the links"),
     ("", "find_html_links", "Targets of the links")),
    "targets of the links", "{path} links to {value}", "page.links",
)  # fmt: skip
HEADINGS = _of_page(
    "page_headings", "of an HTML page, all or of one level, in their order", "array_of_strings",
    ("headings", "titles", "result"),
    (("sections?", "list_page_sections", "Headings"), ("", "extract_headings_from_html", "Headings"),
     ("", "list_page_headings", "Headings")),
    "headings of", "the headings ({level}) of {path} are {value}", "page.headings_of($in_level)", (LEVEL,),
    {"level": "all"},
)  # fmt: skip
CELLS = _of_page(
    "table_column", "of one column of a table in an HTML page, its header left out", "array_of_strings",
    ("cells", "values", "column_values"),
    (("", "read_html_table_column", "Cells"), ("", "list_cells_of_page_table", "Cells")),
    "cells of one column", "column {column} of the table in {path} holds {value}", "page.column($in_column)",
    (COLUMN,), {"column": "Depth"},
)  # fmt: skip
CELL = _of_page(
    "table_cell", "where a row and a column of a table in an HTML page meet", "string", ("cell", "value", "content"),
    (("", "read_html_table_cell", "Cell"), ("", "look_up_page_table_cell", "Cell")),
    "cell where", "in the table of {path}, {column} of {row} is {value}", "page.cell($in_row, $in_column)",
    (ROW, COLUMN), {"row": "Brill", "column": "Depth"},
)  # fmt: skip
TEXT = _of_page(
    "page_text", "of an HTML page, without its tags", "string", ("text", "plain_text", "content"),
    (("", "convert_html_to_text", "Plain text"), ("", "extract_text_of_page", "Plain text")),
    "plain text of", "the text of {path} is: {value}", "page.text",
)  # fmt: skip

_LINKS = r"(?:hyper)?(?:links|urls|hrefs|link targets|linked addresses)"
_EXIST = r"(?: (?:are|is) there| are| exist)?"
_TABLE = r"(?: (?:of|in|from) (?:the|its) table| in the table)?"
_CELL = r"(?:\"[^\"]+\"|'[^']+'|[\w -]+?)"
_FORMS: tuple[tuple[str, Operation, View], ...] = (
    (r"(?:page |html )?title(?: of the (?:web ?)?page)?", TITLE, "value"),
    (r"what is the (?:web ?)?page called|title tag", TITLE, "value"),
    (rf"how many {_LINKS}{_EXIST}", LINKS, "length"),
    (rf"(?:all |extract |the )*(?:targets of (?:all |the )*)?{_LINKS}{_EXIST}", LINKS, "value"),
    (r"(?:where|what|which (?:pages|addresses|files)) does (?:it|the page) link to", LINKS, "value"),
    (rf"how many (?:(?P<level>h[1-6])[- ])?(?:section )?(?:headings?|headers|sections){_EXIST}", HEADINGS, "length"),
    (rf"(?:all |extract |the )*(?:(?P<level>h[1-6])[- ])?(?:section )?(?:headings?|headers"
     rf"|sections){_EXIST}", HEADINGS, "value"),
    (rf"(?:all |the )*(?:cells|values|entries)(?: in| of) (?:the )?(?:column )?(?P<column>{_CELL})"
     rf"(?: column)?{_TABLE}", CELLS, "value"),
    (rf"(?:the )?(?P<column>{_CELL}) (?:of|for) (?:the )?(?P<row>{_CELL})(?: (?:in|of|from) (?:the|its) table"
     rf"| in the table| according to the table)?", CELL, "value"),
    (rf"(?:table )?cell (?:in|of|at) (?:the )?row (?P<row>{_CELL})(?: and| in|,) (?:the )?column "
     rf"(?P<column>{_CELL}){_TABLE}", CELL, "value"),
    (r"(?:plain |visible )?text(?: content)?(?: of the (?:web ?)?page)?", TEXT, "value"),
)  # fmt: skip


class Pages:
    """Family of questions about one HTML file. Other documents have their own family."""

    operations = (TITLE, LINKS, HEADINGS, CELLS, CELL, TEXT)

    def read(self, phrase: str, world: World) -> Call | None:
        bare = re.sub(rf"\bdoes {MARK}[0-9]+ link to\b", "does it link to", phrase)
        bare = " ".join(
            re.sub(
                rf",? ?(?:(?:in|of|from|within|on|for) )?(?:the (?:web ?|html )?page )?{MARK}[0-9]+(?:'s)?", "", bare
            ).split()
        )
        bare = re.sub(r"^(?:the )?(?:total )?number of |^count (?:of )?(?:the |all )*", "how many ", bare, flags=re.I)
        for form, operation, view in _FORMS:
            match = re.fullmatch(form, bare, re.IGNORECASE)
            taken = world.take_file(phrase, ENDINGS) if match and _means_page(phrase, world) else None
            if match and taken:
                return Call(operation, {"path": taken[1].named, **_values(operation, match)}, view)
        return None


def _means_page(phrase: str, world: World) -> bool:
    """Whether an HTML file is there at all: without one, "all links" is not about a page."""
    return MARK in phrase or any(file.named.lower().endswith(ENDINGS) for file in world.files)


def _values(operation: Operation, match: re.Match[str]) -> dict[str, str]:
    found = {role: text.strip("\"'") for role, text in match.groupdict().items() if text}
    return {slot.role: found.get(slot.role, "all").strip() for slot in operation.inputs if slot.role != "path"} | (
        {"level": found.get("level", "all").lower()} if operation is HEADINGS else {}
    )
