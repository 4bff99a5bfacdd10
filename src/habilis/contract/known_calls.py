"""What single functions of well-known modules do, where it depends on how they are called.

`pandas.DataFrame.to_csv()` gives a text and `to_csv(path)` writes a file; `sqlite3.connect(":memory:")` touches
nothing and another name does; `Timestamp("now")` is the clock. Each judges one call: `pure`, `reads` or `writes`; None
where this module knows nothing of it. From the documentation of CPython 3.11 to 3.13, NumPy 2 and pandas 2.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from habilis.contract.bindings import Bindings
from habilis.core.types import Effects

Judge = Callable[[ast.Call, Bindings], Effects]

_SQL_OUTSIDE = re.compile(r"\b(?:attach|vacuum\s+into|load_extension|pragma)\b", re.IGNORECASE)
_SQL_CLOCK = re.compile(r"now|random|current_|localtime|changes", re.IGNORECASE)
_TARGETS = frozenset(("path_or_buf", "path_or_buffer", "path", "buf", "fname"))


def _to_text(call: ast.Call, bindings: Bindings) -> Effects:
    """A method that gives a text unless it is told where to write: `to_csv`, `to_json`."""
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg in _TARGETS)]
    if any(word.arg is None for word in call.keywords):
        return "writes"
    return "pure" if all(isinstance(value, ast.Constant) and value.value is None for value in given) else "writes"


def _connect(call: ast.Call, bindings: Bindings) -> Effects:
    """A database in memory alone touches nothing; one by another name, or by one made at run time, is a file."""
    named = call.args[:1] or [word.value for word in call.keywords if word.arg == "database"]
    other = any(word.arg in (None, "uri", "factory") for word in call.keywords)
    return "pure" if named and not other and bindings.text(named[0]) == ":memory:" else "writes"


def _sql(call: ast.Call, bindings: Bindings) -> Effects:
    """SQL that is written out and names no other database."""
    if "sqlite3" not in bindings.modules:
        return "pure"
    said = bindings.text(call.args[0]) if call.args else None
    if said is None or _SQL_OUTSIDE.search(said):
        return "writes"
    return "reads" if _SQL_CLOCK.search(said) else "pure"


def _moment(call: ast.Call, bindings: Bindings) -> Effects:
    """What reads a date out of a text reads the clock for "now" and "today"."""
    texts = [bindings.text(value) for value in (*call.args[:1], *(word.value for word in call.keywords))]
    return "pure" if texts and all(text and text.lower() not in ("now", "today") for text in texts) else "reads"


def _chance(call: ast.Call, bindings: Bindings) -> Effects:
    """Chance, unless its seed is given."""
    return "pure" if any(word.arg in ("seed", "random_state") for word in call.keywords) else "reads"


def _expression(call: ast.Call, bindings: Bindings) -> Effects:
    """Code in a text: seen where it is written out and calls nothing."""
    said = bindings.text(call.args[0]) if call.args else None
    return "pure" if said is not None and not re.search(r"[@(]|__", said) else "writes"


def _by_names(call: ast.Call, bindings: Bindings) -> Effects:
    """`attrgetter("now")` is a mention of `.now`; a name made at run time may be anything."""
    names = [bindings.text(value) for value in call.args]
    if call.keywords or any(name is None for name in names):
        return "writes"
    reads = {"now", "today", "utcnow", "environ", "created"}
    parts = {part for name in names if name for part in name.split(".")}
    if any(part.startswith("_") for part in parts):
        return "writes"
    return "reads" if parts & reads else "pure"


_METHODS: Mapping[str, Judge] = {
    **dict.fromkeys(("to_csv", "to_json", "to_html", "to_markdown", "to_latex", "to_string", "to_xml"), _to_text),
    **dict.fromkeys(("execute", "executemany", "executescript"), _sql),
    **dict.fromkeys(("samples", "sample"), _chance),
}
"""By the name of a method, whatever it belongs to."""
_NAMES: Mapping[str, Judge] = {
    **dict.fromkeys(("sqlite3.connect", "sqlite3.Connection"), _connect),
    **dict.fromkeys(("pandas.to_datetime", "pandas.Timestamp", "pandas.Period", "pandas.DatetimeIndex"), _moment),
    "numpy.datetime64": _moment,
    "pandas.eval": _expression,
    "operator.attrgetter": _by_names,
}
"""By the dotted name of a function."""
_OF_TABLES: Mapping[str, Judge] = {"eval": _expression, "query": _expression}


def known(name: str, call: ast.Call | None, bindings: Bindings, *, method: bool) -> Effects | None:
    """What the function `name` does as it is called; taken without a call it may be called in any way.

    `method`: it belongs to a value that has no name. None where nothing is known of it.
    """
    last = name.rpartition(".")[2]
    judge = _NAMES.get(name)
    if judge is None and (method or "." in name):
        judge = _METHODS.get(last) or (_OF_TABLES.get(last) if "pandas" in bindings.modules else None)
    if judge is None:
        return None
    if call is not None:
        return judge(call, bindings)
    return "reads" if judge in (_moment, _chance) else "writes"
