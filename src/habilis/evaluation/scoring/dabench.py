"""The rule of DABench (Hu et al., 2024, InfiAgent): values with names, `@name[value]`, compared one by one.

Every name of the true answer must be among the given ones, its value the same text or, to 1e-6, the same number. What
else is given counts for nothing.
"""

from __future__ import annotations

import re

_PART = re.compile(r"@([\w ]+)\[([^\]\n]*)\]")
CLOSE = 1e-6


def is_named(text: str) -> bool:
    """Whether `text` is nothing but values with names."""
    return _PART.search(text) is not None and not _PART.sub("", text).strip(" \t\n,;")


def named_values(text: str) -> dict[str, str]:
    """The values of `text` by name; of a name given twice, the last."""
    return {name.strip(): value.strip() for name, value in _PART.findall(text)}


def differing(expected: str, given: str) -> tuple[list[str], int]:
    """The names of `expected` whose value `given` lacks or has otherwise, and how many names there are."""
    wanted, got = named_values(expected), named_values(given)
    return [name for name, value in wanted.items() if name not in got or not _same(got[name], value)], len(wanted)


def _same(given: str, expected: str) -> bool:
    if given == expected:
        return True
    try:
        return abs(float(given) - float(expected)) < CLOSE
    except ValueError:
        return False
