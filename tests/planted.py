"""A secret in the forms in which it may leak, made in plain ways: nothing of the masker's is used here."""

from __future__ import annotations

import base64
import gzip
import json
import sqlite3
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import quote, quote_plus


@cache
def forms(secret: str) -> dict[str, str]:
    """`secret` in every form, by the name of each. In base64 it lies at each of three places of a longer text."""
    raw = secret.encode()
    codes = [f"{byte:02x}" for byte in raw]
    found = {
        "plain": secret,
        "json": json.dumps(secret)[1:-1],
        "json in json": json.dumps(json.dumps(secret))[1:-1],
        "json, all of it": "".join(map(_unicode, secret)),
        "json, capitals": "".join(_unicode(char, "04X") for char in secret),
        "json, every other": "".join(
            _unicode(char) if number % 2 else json.dumps(char)[1:-1] for number, char in enumerate(secret)
        ),
        "json, slashes": json.dumps(secret)[1:-1].replace("/", "\\/"),
        "repr": repr(secret)[1:-1],
        "repr of bytes": repr(raw)[2:-1],
        "percent": quote(secret, safe=""),
        "percent, small": "".join(f"%{code}" for code in codes),
        "percent, capitals": "".join(f"%{code.upper()}" for code in codes),
        "percent, every other": "".join(
            f"%{code}" if number % 2 else quote(bytes((byte,)), safe="")
            for number, (code, byte) in enumerate(zip(codes, raw, strict=True))
        ),
        "percent of percent": quote(quote(secret, safe=""), safe=""),
        "form": quote_plus(secret),
        "json in percent": quote(json.dumps(secret)[1:-1], safe=""),
    }
    for name, between in (("", ""), (", colons", ":"), (", spaces", " "), (", dashes", "-"), (", 0x", ", 0x")):
        found[f"hex{name}"] = between.join(codes)
        found[f"hex, capitals{name}"] = between.join(code.upper() for code in codes)
    found["hex, mixed"] = "".join(code.upper() if number % 2 else code for number, code in enumerate(codes))
    found["hex, x"] = "".join(f"\\x{code}" for code in codes)
    for before in ("", "u", "us", "user:"):
        coded = base64.b64encode(before.encode() + raw).decode()
        safe = base64.urlsafe_b64encode(before.encode() + raw).decode().rstrip("=")
        behind = base64.b64encode(before.encode() + raw + b" and more").decode()
        found |= {f"base64 behind {before!r}": coded, f"url-safe behind {before!r}": safe}
        found |= {f"base64 within, behind {before!r}": behind, f"base64, JSON, {before!r}": coded.replace("/", "\\/")}
        found[f"base64, percent, {before!r}"] = quote(coded, safe="")
        for width in (8, 64, 76):
            found[f"base64 of {width}, behind {before!r}"] = _lines(coded, width, "\n")
        found[f"base64 with CRLF behind {before!r}"] = _lines(behind, 8, "\r\n")
        found[f"base64, lines in JSON, {before!r}"] = _lines(coded, 8, "\\n")
    return found


def _unicode(char: str, how: str = "04x") -> str:
    raw = char.encode("utf-16-be")
    return "".join(f"\\u{int.from_bytes(raw[at : at + 2]):{how}}" for at in range(0, len(raw), 2))


def _lines(text: str, width: int, end: str) -> str:
    return end.join(text[at : at + width] for at in range(0, len(text), width))


@cache
def traces(secret: str) -> dict[str, bytes]:
    """What stays of each form wherever it stands, in bytes: of base64 the part that no neighbour has a bit in."""
    found = {name: text.encode() for name, text in forms(secret).items() if not name.startswith(("base64", "url-safe"))}
    raw = secret.encode()
    for before in range(3):
        coded = base64.b64encode(b"x" * before + raw)
        inner = coded[-(-8 * before // 6) : 8 * (before + len(raw)) // 6]
        found |= {f"base64 at {before}": inner, f"url-safe at {before}": inner.translate(bytes.maketrans(b"+/", b"-_"))}
    return found


def leaks(content: bytes, secret: str) -> list[str]:
    """The forms in which `secret` stands in `content`, line breaks and escaped ones between pieces of base64 or not."""
    bare = content
    for end in (b"\\r", b"\\n", b"\r", b"\n", b" ", b"\\"):
        bare = bare.replace(end, b"")
    small = content.lower()
    return [
        name
        for name, trace in traces(secret).items()
        if trace in content or trace in bare or (name.startswith("hex") and trace.lower() in small)
    ]


def left_behind(folder: Path, *secrets: str, but: tuple[str, ...] = ()) -> list[str]:
    """Every place below `folder` in which one of `secrets` stands: names and contents of files, packed ones unpacked,
    rows of databases."""
    found = []
    for path in sorted(folder.rglob("*")):
        if any(part in but for part in path.parts):
            continue
        for content in (str(path.name).encode(), *_contents(path)):
            found += [f"{path}: {secret}: {form}" for secret in secrets for form in leaks(content, secret)]
    return found


def _contents(path: Path) -> Iterator[bytes]:
    if path.is_symlink() or not path.is_file():
        return
    content = path.read_bytes()
    yield content
    if content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content)
    if content.startswith(b"SQLite format 3"):
        yield from _rows(path)


def _rows(path: Path) -> Iterator[bytes]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as opened:
        for (table,) in opened.execute("select name from sqlite_master where type='table'").fetchall():
            for row in opened.execute(f'select * from "{table}"'):
                for cell in row:
                    content = cell.encode() if isinstance(cell, str) else cell if isinstance(cell, bytes) else b""
                    yield content
                    try:
                        yield zlib.decompress(content)
                    except zlib.error:
                        continue
