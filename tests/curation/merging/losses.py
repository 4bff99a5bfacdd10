"""Right tools of the demonstration's families, calls that tell them from wrong ones, wrong versions made on purpose.

A wrong version is the right one's text with one thing changed: a branch that is never taken, an entry of a table gone,
another operator, another number, no more stripping, another encoding; or the model's own first version. It counts where
it agrees on the easy calls, and is shown to be wrong on a hard one that these let anybody expect.
"""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from habilis.demo.toolbox import source_for
from habilis.inputs.domain import Domain, Given
from habilis.questions.operations import DemoOperation, Fields, Wording

Kind = Literal["lossy", "faulty"]
FIRST, MOST_TRIED = "the first, plain version", 40
Values = Mapping[str, Any]

TEXT = "one two two\nthree three three words\nend of it\n"
TABLE = "item,price,quantity\nlamp,10,2\nchair,20,5\nlamp,30,2\ntable,45,9\n"
PAGE = (
    "<html><head><title>Ports</title></head><body><h1>Ports</h1><h2>North</h2>"
    "<p>See <a href='map.html'>the map</a>.</p>"
    "<table><tr><th>Port</th><th>Depth</th></tr><tr><td>Brill</td><td>12</td></tr><tr><td>Narrow</td><td>9</td></tr>"
    "</table></body></html>\n"
)
LEVELS = "2024-03-01 09:15:02 INFO started\n2024-03-01 10:00:00 ERROR no disk\n2024-03-01 10:30:00 INFO stopped\n"
REQUESTS = (
    '10.0.0.1 - - [01/Mar/2024:09:15:02 +0000] "GET /a HTTP/1.1" 200 512 12ms\n'
    '10.0.0.2 - - [01/Mar/2024:10:00:00 +0000] "POST /b HTTP/1.1" 500 40 345ms\n'
    '10.0.0.2 - - [01/Mar/2024:10:20:00 +0000] "GET /c HTTP/1.1" 404 40 45ms\n'
)
JSON = '{"shop": {"name": "Corner"}, "items": [{"name": "lamp", "price": 10}, {"name": "chair", "price": 20}]}'
FILES: dict[str, bytes] = {
    "a.txt": TEXT.encode(),
    "b.txt": b"some more words and some lines\nto count in here A-12\n",
    "accents.txt": "naïve café\nthree Ä-12 words, über alles\n".encode(),
    "bom.txt": TEXT.encode("utf-8-sig"),
    "crlf.txt": TEXT.replace("\n", "\r\n").encode(),
    "latin.txt": "naïve café\nthree words\n".encode("cp1252"),
    "wide.txt": TEXT.encode("utf-16"),
    "a.csv": TABLE.encode(),
    "b.csv": b"item,price,quantity\npen,3,1\ncup,8,4\npen,5,2\n",
    "accents.csv": TABLE.replace("lamp", "Lämpchen").encode(),
    "bom.csv": TABLE.encode("utf-8-sig"),
    "semicolon.csv": TABLE.replace(",", ";").encode(),
    "quoted.csv": TABLE.replace("lamp", '"lamp, tall"').encode(),
    "blank.csv": TABLE.replace("chair,20,5", "chair,,5").encode(),
    "latin.csv": TABLE.replace("lamp", "Lämpchen").encode("cp1252"),
    "a.html": PAGE.encode(),
    "b.html": PAGE.replace("North", "South").replace("12", "14").replace("Ports", "Harbours").encode(),
    "accents.html": PAGE.replace("Ports", "Häfen").encode(),
    "loose.html": PAGE.replace("</p>", "<br>").replace("</td>", "").replace("<p>", "<P>").encode(),
    "levels.log": LEVELS.encode(),
    "more.log": (LEVELS + "2024-03-01 11:30:00 WARNING low\n2024-03-01 11:31:00 INFO on\n").encode(),
    "loose.log": (LEVELS + "  at somewhere in a trace\n[2024-03-01 11:30:00] [WARN] low\n").encode(),
    "requests.log": REQUESTS.encode(),
    "later.log": REQUESTS.replace("10:", "12:").replace("345ms", "95ms").encode(),
    "seconds.log": REQUESTS.replace("345ms", "0.345s").encode(),
    "a.json": JSON.encode(),
    "b.json": JSON.replace("20", "45").replace("lamp", "cup").encode(),
    "bom.json": JSON.encode("utf-8-sig"),
    "texts.json": JSON.replace("20", '"1,020"').encode(),
}

Pool = tuple[Sequence[Values], Sequence[Values]]
"""Easy calls and hard ones, values by role."""


def _on(easy: str, hard: str, *more: Values) -> Pool:
    """The calls `more` on each of the files `easy`, and on those that are hard."""
    made = more or ({},)
    return tuple([{"path": name, **values} for name in files.split() for values in made] for files in (easy, hard))  # type: ignore[return-value]


_LISTS: Pool = (
    [{"numbers": n} for n in ([1, 2, 3, 4], [2, 4, 8], [3, 5, 9, 11, 20])],
    [{"numbers": n} for n in ([5, 1, 3], [7, 7, 2, 2, 9], [-4, 2.5, 8], [6], [10, 2, 30, 4])],
)
_WHOLE: Pool = ([{"n": n} for n in (6, 10, 12)], [{"n": n} for n in (7, 9, 15, 16, 25, 28, 49, 97, 121)])
_NTH: Pool = ([{"index": n} for n in (3, 5, 8)], [{"index": n} for n in (1, 2, 6, 12, 20)])
_PAIRS: Pool = (
    [{"first": a, "second": b} for a, b in (("port", "sort"), ("line", "lime"), ("cart", "card"))],
    [
        {"first": a, "second": b}
        for a, b in (("abcdef", "bcdefa"), ("kitten", "mitten"), ("lawn", "flaw"), ("aabb", "bbaa"))
    ],
)
_TEXTS: Pool = (
    [{"text": t} for t in ("port", "tide", "harbour")],
    [{"text": t} for t in ("Open Harbour 7", "café", "a b&c/d?", "")],
)
_WHERE = tuple(
    {"where": "quantity", "how": how, "wanted": wanted}
    for how, wanted in (("less", "6"), ("less", "9"), ("greater", "1"))
)
_OTHERWISE = (
    {"where": "quantity", "how": "at_most", "wanted": "2"},
    {"where": "quantity", "how": "not_equals", "wanted": "2"},
    {"where": "item", "how": "contains", "wanted": "A"},
)
_TABLES = "a.csv accents.csv bom.csv semicolon.csv quoted.csv blank.csv latin.csv"
_READ = "accents.txt bom.txt crlf.txt latin.txt wide.txt"


def pool(operation: DemoOperation) -> Pool | None:
    """Calls of an operation, easy and hard."""
    roles = {slot.role for slot in operation.inputs}
    key = operation.key
    if "numbers" in roles and key not in ("gcd", "lcm"):
        return _LISTS
    if "numbers" in roles:
        return [{"numbers": n} for n in ([12, 18], [4, 6], [10, 15, 20])], [
            {"numbers": n} for n in ([7], [9, 9], [8, 12, 30, 2])
        ]
    if roles == {"n"}:
        return _WHOLE
    if roles == {"index"}:
        return _NTH
    if roles == {"first", "second"}:
        ties = key == "longest_common_subsequence"  # of the last pair there are two, and either is right
        return (_PAIRS[0], _PAIRS[1][:-1]) if ties else _PAIRS
    if roles == {"text"}:
        if not key.endswith("_decode"):
            return _TEXTS
        plain = str(operation.example["text"])
        more = {"base64": ("dGlkZQ==", "aGFyYm91cg=="), "hex": ("74696465", "6861"), "url": ("a%20tide", "b%26c")}
        hard = {"base64": ("Y2Fmw6k=", "Y2Fmw6k", "dGlk ZQ=="), "hex": ("63 61", "6A6b"), "url": ("caf%C3%A9",)}
        kind = key.split("_")[0]
        return [{"text": t} for t in (plain, *more.get(kind, ("gvqr", "uneobhe")))], [
            {"text": t} for t in hard.get(kind, ("Uneobhe 7", "Grn & Pbssrr"))
        ]
    if "where" in roles:
        column = {"column": "price"} if "column" in roles else {}
        easy = [{"path": "a.csv", **column, **where} for where in _WHERE]
        hard = [{"path": file, **column, **where} for file in _TABLES.split() for where in (*_WHERE, *_OTHERWISE)]
        return easy, hard
    if "group" in roles:
        more = {"group": "item"} | ({"column": "price"} if "column" in roles else {})
        which = ({"extreme": "highest"}, {"extreme": "lowest"}) if "extreme" in roles else ({},)
        calls = [{**more, **one} for one in which]
        return _on("a.csv b.csv", _TABLES, *calls)
    if "column" in roles and not key.startswith("table_"):
        easy, hard = _on("a.csv b.csv", _TABLES, {"column": "price"}, {"column": "quantity"})
        return easy, [*hard, {"path": "a.csv", "column": "Price"}]
    if key in ("count_rows", "columns"):
        return _on("a.csv b.csv", _TABLES)
    return _special(key)


def _special(key: str) -> Pool | None:
    pages = ("a.html b.html", "accents.html loose.html")
    logs = ("levels.log more.log", "loose.log")
    requests = ("requests.log later.log", "seconds.log")
    texts = ("a.txt b.txt", _READ)
    found: dict[str, Pool] = {
        "leap_year": ([{"year": y} for y in (2023, 2024, 2021)], [{"year": y} for y in (1900, 2000, 2100)]),
        "add_to_date": (
            [{"date": "2024-02-10", "amount": n, "unit": "days"} for n in (3, 5, 9)],
            [
                {"date": "2024-02-10", "amount": 4, "unit": "months"},
                {"date": "2024-12-31", "amount": 2, "unit": "days"},
                {"date": "2024-02-27", "amount": 3, "unit": "weeks"},
                {"date": "2024-02-29", "amount": -1, "unit": "days"},
                {"date": "3 March 2024", "amount": 2, "unit": "days"},
            ],
        ),
        "days_between": (
            [{"start": "2024-01-02", "end": "2024-01-09"}, {"start": "2024-03-05", "end": "2024-04-01"}],
            [{"start": "2023-12-30", "end": "2025-03-01"}, {"start": "3 March 2024", "end": "2024-03-09"}],
        ),
        "weekday": (
            [{"day": d} for d in ("2024-02-29", "2024-03-04", "2025-01-15")],
            [{"day": d} for d in ("1969-07-20", "20 July 1969", "2000-12-31")],
        ),
        "convert_unit": (
            [{"amount": n, "source": "km", "target": "m"} for n in (2, 5, 1.5)],
            [{"amount": 3, "source": "m", "target": "km"}, {"amount": 20, "source": "celsius", "target": "fahrenheit"}],
        ),
        "to_roman": ([{"number": n} for n in (12, 7, 31)], [{"number": n} for n in (14, 49, 944, 1999, 2026)]),
        "from_roman": (
            [{"numeral": n} for n in ("XII", "VII", "XXXI")],
            [{"numeral": n} for n in ("XIV", "XXIX", "IX", "MCMXC", "MMXXIV")],
        ),
        "convert_base": (
            [{"digits": d, "source": 2, "target": 10} for d in ("101", "1100", "111")],
            [{"digits": "ff", "source": 16, "target": 2}, {"digits": "2025", "source": 10, "target": 7}],
        ),
        "count_primes": ([{"limit": n} for n in (12, 20, 30)], [{"limit": n} for n in (2, 3, 25, 49, 97)]),
        "combinations": ([{"total": a, "chosen": b} for a, b in ((5, 2), (6, 3), (4, 1))], [{"total": 9, "chosen": 4}]),
        "permutations": ([{"total": a, "chosen": b} for a, b in ((5, 2), (6, 3), (4, 1))], [{"total": 9, "chosen": 4}]),
        "arithmetic": (
            [{"expression": e} for e in ("2 + 3", "12 + 30 + 4", "7 + 2 * 3")],
            [{"expression": e} for e in ("7 / 2", "2 ** 5", "9 - 12", "(1 + 2) * 3", "-3 + 5", "2 * (-4)")],
        ),
        "amount_at_rate": (
            [{"amount": a, "per": 1, "gives": g} for a, g in ((10, 1.5), (4, 2), (20, 1.25))],
            [{"amount": 7, "per": 3, "gives": 84}, {"amount": 2.5, "per": 2, "gives": 18}],
        ),
        **{
            name: _on(*texts, {"pattern": "[a-z]+o"}, {"pattern": "[A-Z]-[0-9]+"}, {"pattern": "words?"})
            for name in ("count_matching_lines", "distinct_matches", "count_matches", "list_matches")
        },
        **{name: _on(*logs, {"level": "INFO"}, {"level": "ERROR"}) for name in ("log_level_count", "log_level_share")},
        "log_level_counts": _on(*logs),
        "busiest_hour": _on("levels.log requests.log more.log", "later.log loose.log"),
        **{
            name: _on(*requests, *({"lowest": a, "highest": b} for a, b in ((500, 599), (200, 200), (404, 500))))
            for name in ("status_count", "status_share")
        },
        **{name: _on(*requests) for name in ("slowest_request", "longest_duration")},
        **{name: _on(*pages) for name in ("page_title", "page_links", "page_text")},
        "page_headings": _on(*pages, {"level": "h2"}, {"level": "h1"}, {"level": "all"}),
        "table_column": _on(*pages, {"column": "Depth"}, {"column": "port"}),
        "table_cell": _on(*pages, {"row": "Brill", "column": "Depth"}, {"row": "narrow", "column": "Depth"}),
        **{name: _on(*texts) for name in ("word_count", "distinct_word_count", "line_count", "character_count")},
        **{name: _on(*texts) for name in ("longest_line", "longest_word")},
        "occurrences": _on(*texts, {"word": "words"}, {"word": "Three"}, {"word": "some"}),
        "top_words": _on(*texts, {"n": 2}, {"n": 1}),
        **dict.fromkeys(
            ("json_sum", "json_average", "json_minimum", "json_maximum"),
            _on("a.json b.json", "bom.json texts.json", {"field": "price"}),
        ),
        "json_count": _on("a.json b.json", "bom.json", {"keys": "items"}, {"keys": "shop"}),
        "json_value": _on("a.json b.json", "bom.json", {"keys": "shop.name"}, {"keys": "items.0.name"}),
    }  # fmt: skip
    return found.get(key)


# --- wrong versions


@dataclass(frozen=True)
class Tool:
    """One text of a tool, with the names that it gives to its operation's slots."""

    name: str
    source: str
    fields: Fields

    def arguments(self, values: Values) -> dict[str, Any]:
        return {self.fields.inputs[role]: value for role, value in values.items()}


def right(operation: DemoOperation, wording: Wording, name: str, more: Mapping[str, Any] | None = None) -> Tool:
    """The right version in one wording."""
    return _made(operation, wording, name, robust=True, more=more)


def _made(
    operation: DemoOperation, wording: Wording, name: str, *, robust: bool, more: Mapping[str, Any] | None = None
) -> Tool:
    inputs = {slot.role: wording.fields.get(slot.role, slot.names[0]) for slot in operation.inputs}
    fields = Fields(inputs, wording.fields.get(operation.output.role, operation.output.names[0]))
    text = operation.description.format(word=wording.word)
    return Tool(name, source_for(operation, name, text, fields, robust=robust, more=more), fields)


def wrong(
    operation: DemoOperation, wording: Wording, name: str, lot: random.Random, more: Mapping[str, Any] | None = None
) -> Iterator[tuple[Kind, str, Tool]]:
    """Versions of the same tool with one thing changed, drawn from `lot`: what was done, and the tool. Not all are
    wrong."""
    whole = right(operation, wording, name, more)
    plain = _made(operation, wording, name, robust=False, more=more)
    tree = ast.parse(whole.source)
    changes: list[tuple[Kind, str, int]] = [
        (kind, what, number) for number, node in enumerate(ast.walk(tree)) for kind, what in _changes(node)
    ]
    if plain.source != whole.source:
        changes += [("lossy", FIRST, 0)] * (1 + len(changes) // 4)
    first = lot.choice(("lossy", "faulty"))
    lot.shuffle(changes)
    changes.sort(key=lambda change: change[0] != first)
    for kind, what, number in changes[:MOST_TRIED]:
        if what == FIRST:
            yield kind, what, plain
            continue
        again = ast.parse(whole.source)
        _change(next(itertools.islice(ast.walk(again), number, None)), what)
        yield kind, f"{what} at {number}", Tool(name, ast.unparse(ast.fix_missing_locations(again)), whole.fields)


def _changes(node: ast.AST) -> Iterator[tuple[Kind, str]]:
    """What can be changed at a node of the code."""
    if isinstance(node, ast.If):
        yield "lossy", "a branch that is never taken"
    elif isinstance(node, ast.Dict) and len(node.keys) > 1 and not _is_text(node.keys[0], "name"):
        yield "lossy", "the first entry is gone"
        yield "lossy", "the last entry is gone"
    elif isinstance(node, ast.Try) and not _reports(node):
        yield "lossy", "nothing is caught"
    elif isinstance(node, ast.Constant) and node.value in ("utf-8", "utf-8-sig"):
        yield "lossy", "ASCII alone"
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("strip", "lower", "upper")
    ):
        yield "lossy", "as it stands"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OTHER_CALL:
        yield "faulty", "another function"
    elif isinstance(node, ast.BinOp) and type(node.op) in _OTHER:
        yield "faulty", "another operator"
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _OTHER:
        yield "faulty", "another comparison"
    elif isinstance(node, ast.BoolOp):
        yield "faulty", "and for or"
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "faulty", "a number more"


_OTHER: dict[type, Any] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.FloorDiv, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}  # fmt: skip
_OTHER_CALL = {"max": "min", "min": "max", "sorted": "list", "sum": "max", "len": "bool", "set": "list"}


def _change(node: Any, what: str) -> None:
    if what == "a branch that is never taken":
        node.test = ast.Constant(False)
    elif what.endswith("entry is gone"):
        place = 0 if "first" in what else -1
        del node.keys[place], node.values[place]
    elif what == "nothing is caught":
        node.handlers = [ast.ExceptHandler(ast.Name("ZeroDivisionError", ast.Load()), None, [ast.Raise()])]
    elif what == "ASCII alone":
        node.value = "ascii"
    elif what == "as it stands":
        node.func.attr = "__str__"
        node.args = []
    elif what == "another function":
        node.func.id = _OTHER_CALL[node.func.id]
    elif what == "another operator":
        node.op = _OTHER[type(node.op)]()
    elif what == "and for or":
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif what == "another comparison":
        node.ops[0] = _OTHER[type(node.ops[0])]()
    else:
        node.value += 1


def _is_text(node: ast.AST | None, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _reports(node: ast.Try) -> bool:
    """Whether it is the `try` of the contract, which makes an error of the tool's a result."""
    return any(isinstance(part, ast.Return) for part in ast.walk(ast.Module(list(node.handlers), [])))


# --- what the easy calls let anybody expect

OTHER_FORMS = ("wide.txt", "bom.txt", "bom.csv", "semicolon.csv", "bom.json")
"""Files that say what an easy one says, in another encoding or with another delimiter."""


def given(values: Values) -> Given:
    path = values.get("path")
    return Given(dict(values), {path: FILES[path]} if path else {})


def expected(records: Sequence[Values], values: Values) -> bool:
    """Whether whoever knows the calls `records` has to expect that `values` are asked for too: within what those show,
    or with the same file in another form."""
    if values.get("path") in OTHER_FORMS:
        rest = [{role: value for role, value in one.items() if role != "path"} for one in (values, *records)]
        return rest[0] in rest[1:]
    return Domain([given(one) for one in records]).holds(given(values))
