"""The forms in which a secret travels, and where in a text each of them stands.

A text is read as it is and, as long as that changes something, with one more layer of escapes undone (JSON, Python,
percent). Each reading is searched for the secret itself, for its bytes in hexadecimal with what commonly stands between
them, and for its bytes in base64 at each of the three places that they can have in an encoded text. Sources: JSON,
RFC 8259 §7; percent, RFC 3986 §2.1; base64, RFC 4648 §4 and §5.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

SHORTEST = 6
"""Characters of a value that is taken for a secret; a shorter one (`1`, `true`, `eu`) would tear harmless text."""
LAYERS = 4
"""Escapes within escapes that are undone: JSON in JSON in an address, and one more."""

Kind = Literal["plain", "hex", "base64"]
KINDS: tuple[Kind, ...] = ("plain", "hex", "base64")

_PAIR = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_REST = rb"\\x[0-9a-fA-F]{2}|\\[^ux\n]|%[0-9a-fA-F]{2}"
_ESCAPES = re.compile(rb"\\u00[0-7][0-9a-fA-F]|" + _REST)
_WIDE_ESCAPES = re.compile(_PAIR + rb"|\\u[0-9a-fA-F]{4}|" + _REST)
"""The first leaves escapes of what is not ASCII alone: a Russian text in JSON is full of them."""
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"a": b"\a", b"0": b"\0"}
_FREQUENT = ((b"\\n", b"\n"), (b"\\r", b"\r"), (b"\\t", b"\t"), (b'\\"', b'"'), (b"\\/", b"/"), (b"\\'", b"'"))
_BACKSLASH = b"\xff"
"""Stands for one that is meant, until the other escapes are undone: no UTF-8 holds this byte."""
_HEX_GAPS = re.compile(rb"0x|[ \t\r\n:,\-]")
_HEX_GAP_BYTES = b" \t\r\n:,-"
_BASE64_GAPS = re.compile(rb"[ \t\r\n]")
_BASE64_GAP_BYTES = b" \t\r\n"
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_BASE64_CHARS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


@dataclass(frozen=True)
class Needle:
    """What to look for in one kind of reading, and the name of the secret that it gives away.

    `lead`, `trail`: the character before it or behind it holds bits of the secret too, beside those of a neighbour.
    """

    kind: Kind
    form: bytes = field(repr=False)
    name: str
    lead: bool = False
    trail: bool = False


@dataclass(frozen=True)
class Span:
    """Where a secret stands, in bytes of the text."""

    begin: int
    end: int
    name: str


def needles(name: str, value: str) -> Iterator[Needle]:
    """All that `value` is looked for by. A secret in several lines (a key, say) is looked for line by line too."""
    for part in dict.fromkeys((value, value.strip(), *map(str.strip, value.splitlines()))):
        if len(part) < SHORTEST:
            continue
        for errors in ("surrogatepass", "surrogateescape"):  # as text writes a byte that is none, and the byte itself
            try:
                raw = part.encode("utf-8", errors)
            except UnicodeEncodeError:
                continue
            yield from _forms(name, raw)


def _forms(name: str, raw: bytes) -> Iterator[Needle]:
    yield Needle("plain", raw, name)
    if b" " in raw:
        yield Needle("plain", raw.replace(b" ", b"+"), name)
    yield Needle("hex", raw.hex().encode("ascii"), name)
    for before in range(3):
        coded = base64.b64encode(bytes(before) + raw)
        begin, end = -(-8 * before // 6), 8 * (before + len(raw)) // 6
        yield Needle("base64", coded[begin:end], name, lead=before > 0, trail=8 * (before + len(raw)) % 6 > 0)


def is_wide(value: str) -> bool:
    """Whether escapes of what is not ASCII matter to `value`."""
    return not value.isascii()


# --- readings


def unescaped(data: bytes, wide: bool) -> bytes:
    """`data` with one layer of escapes undone; the same object where there is none.

    The frequent ones are undone without looking at each: most texts in JSON hold no other.
    """
    plain = data
    if b"\\" in plain:
        plain = plain.replace(b"\\\\", _BACKSLASH)
        for escape, meant in _FREQUENT:
            plain = plain.replace(escape, meant)
    if b"\\" in plain or b"%" in plain:
        plain = (_WIDE_ESCAPES if wide else _ESCAPES).sub(_meant, plain)
    return data if plain == data else plain.replace(_BACKSLASH, b"\\")


def folded(data: bytes, kind: Kind) -> bytes:
    """`data` as a form of `kind` is looked for in it."""
    if kind == "hex":
        return data.lower().replace(b"0x", b"").translate(None, _HEX_GAP_BYTES)
    return data.translate(_URL_SAFE, _BASE64_GAP_BYTES) if kind == "base64" else data


def _meant(found: re.Match[bytes]) -> bytes:
    token = found[0]
    return _TABLE.get(token) or _spelt(token)


def _spelt(token: bytes) -> bytes:
    """What an escape stands for."""
    if token[:1] == b"%":
        return bytes((int(token[1:], 16),))
    if token[1:2] == b"u":
        return _code_points(token)
    if token[1:2] == b"x":
        return bytes((int(token[2:], 16),))
    return _LETTERS.get(token[1:], token[1:])


def _code_points(token: bytes) -> bytes:
    units = [int(unit, 16) for unit in token.split(b"\\u")[1:]]
    if len(units) == 2:
        return chr(0x10000 + ((units[0] - 0xD800) << 10) + units[1] - 0xDC00).encode()
    return chr(units[0]).encode("utf-8", "surrogatepass")


_TABLE = {
    token: _spelt(token)
    for number in range(256)
    for digits in (b"%02x" % number, b"%02X" % number)
    for token in (b"%" + digits, b"\\x" + digits, b"\\u00" + digits)
}


def _whole(data: bytes) -> bytes:
    """`data` without an escape at its end that is cut in two."""
    cut = _UNFINISHED.search(data)
    assert cut is not None
    before = data[: cut.start()]
    pairs = (len(before) - len(before.rstrip(b"\\"))) % 2 and cut[0][:1] == b"\\"
    return data if pairs else before


Places = tuple[Sequence[int], Sequence[int]]


class TextReadings:
    """One text in all its readings. `where` is worked out where something was found, which is seldom."""

    def __init__(self, data: bytes, wide: bool, *, goes_on: bool = False) -> None:
        """`goes_on`: more is to come; an escape that is not whole yet is left out of each layer."""
        self._wide = wide
        self._places: dict[tuple[int, Kind], Places] = {}
        self.layers: list[bytes] = []
        before: bytes | None = None
        while data is not before and len(self.layers) <= LAYERS:
            self.layers.append(_whole(data) if goes_on else data)
            before = self.layers[-1]
            data = unescaped(before, wide)

    def views(self) -> Iterator[tuple[int, Kind, bytes]]:
        """Every reading with its layer and kind."""
        for layer, data in enumerate(self.layers):
            for kind in KINDS:
                yield layer, kind, folded(data, kind)

    def places(self, layer: int, kind: Kind) -> Places:
        """For each byte of a reading where in the text that which means it begins, and where it ends."""
        if (layer, kind) not in self._places:
            self._places[layer, kind] = self._worked_out(layer, kind)
        return self._places[layer, kind]

    def _worked_out(self, layer: int, kind: Kind) -> Places:
        data = self.layers[layer]
        if kind == "hex":
            return _mapped(data.lower(), _HEX_GAPS, _nothing, self.places(layer, "plain"))
        if kind == "base64":
            return _mapped(data, _BASE64_GAPS, _nothing, self.places(layer, "plain"))
        if layer == 0:
            return range(len(data)), range(1, len(data) + 1)
        escapes = _WIDE_ESCAPES if self._wide else _ESCAPES
        return _mapped(self.layers[layer - 1], escapes, _meant, self.places(layer - 1, "plain"))


def _nothing(_: re.Match[bytes]) -> bytes:
    return b""


def _mapped(
    data: bytes,
    pattern: re.Pattern[bytes],
    put: Callable[[re.Match[bytes]], bytes],
    places: Places,
) -> Places:
    """Where the bytes come from that stand in `data` once `put` has replaced what `pattern` finds."""
    begins, ends = places
    new_begins: list[int] = []
    new_ends: list[int] = []
    at = 0
    for found in pattern.finditer(data):
        new_begins += begins[at : found.start()]
        new_ends += ends[at : found.start()]
        size = len(put(found))
        new_begins += [begins[found.start()]] * size
        new_ends += [ends[found.end() - 1]] * size
        at = found.end()
    return [*new_begins, *begins[at:]], [*new_ends, *ends[at:]]


# --- what is found


class Sought:
    """Needles that a text is searched for together. `longest` is the size of the longest, in bytes."""

    def __init__(self, sought: Iterable[Needle] = (), *, wide: bool = False) -> None:
        """`wide`: escapes of what is not ASCII matter to one of them."""
        self.needles = tuple(sought)
        self.wide = wide
        self.longest = max((len(needle.form) for needle in self.needles), default=0)
        self._by_kind = {kind: tuple(n for n in self.needles if n.kind == kind) for kind in KINDS}
        self._forms = {kind: tuple(needle.form for needle in of) for kind, of in self._by_kind.items()}

    def seen(self, data: bytes) -> bool:
        """Whether any of them stands in `data`."""
        for _ in range(LAYERS + 1):
            for kind, forms in self._forms.items():
                view = folded(data, kind)
                for form in forms:
                    if form in view:
                        return True
            deeper = unescaped(data, self.wide)
            if deeper is data:
                return False
            data = deeper
        return False

    def spans(self, data: bytes) -> list[Span]:
        """Where any of them stands in `data`."""
        found: list[Span] = []
        reading = TextReadings(data, self.wide)
        for layer, kind, view in reading.views():
            hits = [needle for needle in self._by_kind[kind] if needle.form in view]
            if not hits:
                continue
            begins, ends = reading.places(layer, kind)
            for needle in hits:
                for begin, end in _occurrences(view, needle):
                    found.append(Span(begins[begin], ends[end - 1], needle.name))
        return found

    def edges(self, data: bytes) -> list[Span]:
        """Where `data` begins with the end of one of them, or ends with its beginning: what a cut has left."""
        found: list[Span] = []
        broken = _BROKEN.match(data)
        skipped = broken.end() if broken else 0
        reading = TextReadings(_whole(data[skipped:]), self.wide)
        for layer, kind, view in reading.views():
            remains = [(n, part) for n in self._by_kind[kind] for part in _remains(view, n.form)]
            begins, ends = reading.places(layer, kind) if remains else ((), ())
            found += [
                Span(skipped + begins[begin], skipped + ends[end - 1], needle.name) for needle, (begin, end) in remains
            ]
        return found

    def may_go_on(self, text: bytes) -> int:
        """How many bytes at the end of `text` may be the beginning of one of them, the rest of which is to come."""
        begin = len(text)
        reading = TextReadings(text, self.wide, goes_on=True)
        for layer, kind, view in reading.views():
            longest = max((_begun(view, form) for form in self._forms[kind]), default=0)
            begins, ends = reading.places(layer, kind) if longest or kind == "plain" else ((), ())
            if longest:
                begin = min(begin, begins[len(view) - longest])
            if kind == "plain":
                begin = min(begin, ends[len(view) - 1] if view else 0)
        return len(text) - begin


def _occurrences(view: bytes, needle: Needle) -> Iterator[tuple[int, int]]:
    at = view.find(needle.form)
    while at >= 0:
        begin, end = at, at + len(needle.form)
        if needle.kind == "base64":
            begin -= needle.lead and begin > 0 and view[begin - 1] in _BASE64_CHARS
            end += needle.trail and end < len(view) and view[end] in _BASE64_CHARS
            while view[end : end + 1] == b"=":
                end += 1
        yield begin, end
        at = view.find(needle.form, at + 1)


def _remains(view: bytes, form: bytes) -> Iterator[tuple[int, int]]:
    """The longest end of `form` that `view` begins with, and the longest beginning that it ends with, from SHORTEST."""
    bare = view.rstrip()
    near = max(len(bare) - len(form) + 1, 0)
    if form[:SHORTEST] in bare[near:]:
        for at in range(near, len(bare) - SHORTEST + 1):
            if form.startswith(bare[at:]):
                yield at, len(bare)
                break
    bare = view.lstrip()
    skipped = len(view) - len(bare)
    if form[-SHORTEST:] in bare[: len(form) - 1]:
        for length in range(min(len(form) - 1, len(bare)), SHORTEST - 1, -1):
            if form.endswith(bare[:length]):
                yield skipped, skipped + length
                break


_BROKEN = re.compile(rb"\A\s*[0-9a-fA-Fux]{1,5}(?=[\\%])")
_UNFINISHED = re.compile(
    rb"(?:(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?)?|%[0-9a-fA-F]?|\b0x?)\Z"
)
"""The two parts of an escape that was cut: how a text begins then, and how it ends."""


def _begun(view: bytes, form: bytes) -> int:
    """Bytes at the end of `view` that `form` begins with."""
    for at in range(max(len(view) - len(form) + 1, 0), len(view)):
        if view[at] == form[0] and form.startswith(view[at:]):
            return len(view) - at
    return 0
