"""A pattern that is compiled late does what one does that was compiled at once."""

from __future__ import annotations

import re

import pytest

from habilis.core.patterns import lazy_pattern


def test_it_is_compiled_at_its_first_use_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    whole = re.compile
    monkeypatch.setattr(re, "compile", lambda text, flags=0: compiled.append(text) or whole(text, flags))
    late = lazy_pattern(r"(?P<word>[a-z]+)\d", re.IGNORECASE)
    assert (compiled, late.pattern) == ([], r"(?P<word>[a-z]+)\d")
    for _ in range(3):
        assert late.findall("- Ab7") == ["Ab"]
    assert compiled == [late.pattern]


def test_its_other_methods_are_those_of_the_pattern() -> None:
    text, late, early = "a1 b2 c", lazy_pattern(r"([a-z])(\d)"), re.compile(r"([a-z])(\d)")
    assert late.findall(text) == early.findall(text)
    assert late.sub(r"\2\1", text) == early.sub(r"\2\1", text)
    assert late.split(text) == early.split(text)
    assert [found.span() for found in late.finditer(text)] == [found.span() for found in early.finditer(text)]
    assert (late.fullmatch("a1") is None, late.match(text, 3) is None) == (False, False)
    assert (late.groups, late.flags, late.groupindex) == (early.groups, early.flags, early.groupindex)


def test_one_that_is_wrong_says_so_when_it_is_used() -> None:
    with pytest.raises(re.error, match="unterminated"):
        lazy_pattern("(a").search("a")
