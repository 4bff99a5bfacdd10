"""Sources are parsed in worker threads beside the event loop: no tool may be refused because two were read at once."""

from __future__ import annotations

import ast
import gc
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from habilis.core.parsing import expression_tree, literal_value, nodes_of, syntax_tree

SOURCE = "\n".join(f"def f{n}(a, b):\n    return [a + {n} * b for _ in range({n}) if a]" for n in range(60))


class Litter:
    """Garbage whose end runs Python code, which is where threads take turns in the middle of a parse."""

    def __del__(self) -> None:
        self.other = None

    def __init__(self) -> None:
        self.other: Litter | None = self


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_sources_read_in_several_threads_at_once_are_all_read() -> None:
    failed: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(100):
                Litter()
                assert len(syntax_tree(SOURCE).body) == 60
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_source_is_read_though_a_library_parses_in_the_middle_of_it() -> None:
    parsed: list[str] = []

    def between(phase: str, _: object) -> None:
        if phase == "start" and len(parsed) < 8:
            ast.parse("1")
            parsed.append(phase)

    gc.callbacks.append(between)
    try:
        for _ in range(20):
            parsed.clear()
            assert len(syntax_tree(SOURCE).body) == 60
            assert parsed, "no parse came between"
    finally:
        gc.callbacks.remove(between)


def test_a_literal_is_read() -> None:
    assert literal_value(" {'a': [1, 2.5]}\n") == {"a": [1, 2.5]}


@pytest.mark.parametrize("text", ["", "1 +", "a = 1"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(SyntaxError):
        expression_tree(text)


def test_all_nodes_are_found_in_the_order_of_the_standard_library() -> None:
    tree = ast.parse(Path(__file__).read_text("utf-8"))
    assert list(map(id, nodes_of(tree))) == list(map(id, ast.walk(tree)))
