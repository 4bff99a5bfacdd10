"""Runs inside the sandbox: decodes text, takes it out of HTML and PDF, and cuts it into passages.

Reads one line of JSON and the documents behind it. The line says which folders packages lie in, which files hold those
modules of ours that this needs, and of each document its kind, its bytes, the encoding that was declared, the tokens of
a passage (0: its text is wanted as it is) and the seconds that it has. Writes a line of JSON for each document as soon
as it is read, so that one which ends the reader costs no other. The descriptors' numbers stand in HABILIS_IN and
HABILIS_OUT. Imports the standard library and readers.
"""

import faulthandler
import importlib.util
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

MOST_CHARS, MOST_PAGES = 8_000_000, 5_000
LEFT_OUT = frozenset(
    """script style noscript template svg math iframe object embed applet canvas audio video nav footer button select
    textarea input dialog head""".split()  # noqa: SIM905
)
BLOCKS = frozenset(
    """address article aside blockquote body center dd details div dl dt fieldset figcaption figure form header hgroup
    hr html legend li main ol p section summary tbody td tfoot th thead tr ul""".split()  # noqa: SIM905
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}


def main() -> None:
    with os.fdopen(int(os.environ["HABILIS_IN"]), "rb") as pipe:
        request = json.loads(pipe.readline())
        documents = [(one, pipe.read(one["bytes"])) for one in request["documents"]]
    sys.path.extend(request["packages"])
    for name, path in request["modules"].items():
        load(name, path)
    sys.setrecursionlimit(5_000)
    with os.fdopen(int(os.environ["HABILIS_OUT"]), "wb") as pipe:
        for about, content in documents:
            faulthandler.dump_traceback_later(about["seconds"], exit=True)  # ends also what never comes back to Python
            pipe.write(json.dumps(extracted(about, content), ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            pipe.flush()


def load(name: str, path: str) -> None:
    """Import one of our modules from a single file, its package left out."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


def extracted(about: "dict[str, Any]", content: bytes) -> "dict[str, Any]":
    """What is in one document. Whatever its reader raises is that document's problem."""
    kind = about["kind"]
    try:
        if kind in ("html", "page"):
            content = as_utf8(content, about["declared"])
        if kind in ("text", "markdown"):
            found = of_text(content, about["declared"])
        else:
            found = {"pdf": of_pdf, "html": of_html, "page": of_page}[kind](content)
        return in_passages(found, kind, about["size"]) if about["size"] and "parts" in found else found
    except MemoryError:
        return {"problem": "its reader needed too much memory"}
    except NoText as error:
        return {"problem": str(error)}
    except Exception as error:
        return {"problem": f"it is broken ({type(error).__name__})"}


class NoText(Exception):
    """A document that is no text. Says so."""


def as_utf8(content: bytes, declared: "str | None") -> bytes:
    """HTML in the encoding that it declares, or that was declared for it, as UTF-8."""
    decoding = sys.modules["habilis.sources.documents.decoding"]
    text = decoding.decoded(content, declared or decoding.declared_in(content))
    if text is None:
        raise NoText(sys.modules["habilis.sources.documents.passages"].NO_TEXT)
    return bytes(text.text.encode("utf-8", "replace"))


def of_text(content: bytes, declared: "str | None") -> "dict[str, Any]":
    text, note, problem = sys.modules["habilis.sources.documents.passages"].plain_text(content, declared)
    return {"problem": problem} if problem else {"parts": [{"text": text}], "note": note}


def in_passages(found: "dict[str, Any]", kind: str, size: int) -> "dict[str, Any]":
    """What was found with its text cut into passages of `size` tokens."""
    parts = [(part["text"], part.get("page")) for part in found["parts"]]
    made, note = sys.modules["habilis.sources.documents.passages"].passages(parts, kind, size)
    notes = "; ".join(filter(None, (found.get("note", ""), note)))
    return {"title": found.get("title", ""), "note": notes, "passages": [vars(one) for one in made]}


# --- PDF ---------------------------------------------------------------------------------------------------------


def of_pdf(content: bytes) -> "dict[str, Any]":
    import logging

    import pypdf

    logging.disable(logging.CRITICAL)
    reader = pypdf.PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not opened(reader):
        return {"problem": "it is encrypted"}
    parts, left, broken = [], MOST_CHARS, 0
    for number, page in enumerate(reader.pages, 1):
        if number > MOST_PAGES or left <= 0:
            break
        try:
            text = page.extract_text().strip()[:left]
        except Exception:
            broken += 1
            continue
        left -= len(text)
        parts += [{"text": clean(text), "page": number}] if text else []
    if not parts:
        return {"problem": "it holds no text; scanned pages would have to be recognised first"}
    note = f"{broken} of its pages could not be read" if broken else ""
    title = str((reader.metadata or {}).get("/Title") or "").strip()
    return {"parts": parts, "title": clean(title)[:200], "note": note}


def opened(reader: "Any") -> bool:
    """Whether an encrypted document opens without a password."""
    try:
        return bool(reader.decrypt(""))
    except Exception:  # a cipher that this installation cannot read
        return False


# --- HTML --------------------------------------------------------------------------------------------------------


def of_page(content: bytes) -> "dict[str, Any]":
    """What a page of the web is about; where no such part is found, all of its text."""
    import trafilatura

    found = trafilatura.extract(
        content.decode("utf-8", "replace"), output_format="markdown", include_comments=False, include_tables=True
    )
    whole = of_html(content)
    if found and len(found) >= 200:
        return {"parts": [{"text": clean(found)[:MOST_CHARS]}], "title": whole.get("title", "")}
    return whole


def of_html(content: bytes) -> "dict[str, Any]":
    """All of a document's text, headings, lists, tables and code kept as Markdown."""
    from lxml import etree

    root = etree.fromstring(content, etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True))
    if root is None:
        return {"problem": "it is empty"}
    title = " ".join("".join(next(iter(root.iter("title")), root.makeelement("x", {})).itertext()).split())
    mains = list(root.iter("main"))
    page = Page()
    page.walk(mains[0] if len(mains) == 1 else root)
    text = page.text()
    if not text:
        return {"problem": "it holds no text"}
    return {"parts": [{"text": clean(text)[:MOST_CHARS]}], "title": clean(title)[:200]}


class Page:
    """Markdown as it grows: blocks that are done, and the line under way."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.line: list[str] = []
        self.prefix = ""

    def text(self) -> str:
        self.end()
        said, item = [], False
        for block in self.blocks:
            said.append("\n" if item and block.startswith("- ") else "\n\n")
            said.append(block)
            item = block.rpartition("\n")[2].startswith("- ")
        return "".join(said[1:])

    def end(self) -> None:
        """Close the line under way."""
        said = re.sub(r"[ \t\r\f\v]*\n[ \t\r\f\v]*", "\n", re.sub(r"[ \t\r\f\v]+", " ", "".join(self.line))).strip()
        self.line = []
        if said:
            self.blocks.append(self.prefix + said)
            self.prefix = ""

    def said(self, text: "str | None") -> None:
        if text:
            self.line.append(re.sub(r"\s+", " ", text))

    def walk(self, node: "Any") -> None:
        self.said(node.text)
        for child in node:
            if isinstance(child.tag, str) and child.tag not in LEFT_OUT and not is_hidden(child):
                self.child(child)
            self.said(child.tail)

    def child(self, node: "Any") -> None:
        tag = node.tag
        if tag in HEADINGS:
            self.end()
            words = inner(node)
            if words:
                self.blocks.append(f"{'#' * HEADINGS[tag]} {words}")
        elif tag == "pre":
            self.end()
            code = "".join(node.itertext()).strip("\n")
            fence = "~~~" if "```" in code else "```"
            if code.strip():
                self.blocks.append(f"{fence}\n{code}\n{fence}")
        elif tag == "table" and (rows := cells(node)):
            self.end()
            self.blocks.append(as_table(rows))
        elif tag == "br":
            self.line.append("\n")
        elif tag == "code":
            self.line.append(f"`{inner(node)}`")
        elif tag == "img":
            self.said(node.get("alt"))
        elif tag in BLOCKS or tag == "table":
            self.end()
            self.prefix = "- " if tag == "li" else self.prefix
            self.walk(node)
            self.end()
            self.prefix = "" if tag == "li" else self.prefix
        else:
            self.walk(node)


def is_hidden(node: "Any") -> bool:
    style = (node.get("style") or "").replace(" ", "").lower()
    return node.get("hidden") is not None or "display:none" in style or "visibility:hidden" in style


def inner(node: "Any") -> str:
    return " ".join("".join(node.itertext()).split())


def cells(table: "Any") -> "list[list[str]]":
    """The rows of a table of data; none for one that holds tables or a single column: that only lays out."""
    if next(table.iterdescendants("table"), None) is not None:
        return []
    rows = [[inner(cell).replace("|", "\\|") for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
    rows = [row for row in rows if any(row)]
    return rows if max((len(row) for row in rows), default=0) > 1 else []


def as_table(rows: "list[list[str]]") -> str:
    width = max(len(row) for row in rows)
    return "\n".join(lines_of(rows, width))


def lines_of(rows: "list[list[str]]", width: int) -> "Iterator[str]":
    for number, row in enumerate(rows):
        yield f"| {' | '.join(row + [''] * (width - len(row)))} |"
        if number == 0:
            yield f"|{' --- |' * width}"


def clean(text: str) -> str:
    """`text` without lone surrogates and control characters, which no request can carry."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "", plain)


if __name__ == "__main__":
    main()
