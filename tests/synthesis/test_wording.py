"""Two requests in the same words are one build, whatever their names; what is worded otherwise is not joined for it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from habilis.core.types import ToolRequest
from habilis.demo.understanding import all_operations
from habilis.questions.operations import DemoOperation, Wording
from habilis.synthesis.sameness import same_request

LEAST_JOINED = 0.85
"""Share of the pairs of wordings of one job that are built once."""
_ITEMS = {"array_of_strings": "string", "array_of_numbers": "number"}


def request(name: str, description: str, takes: dict[str, str], gives: str = "what was found") -> ToolRequest:
    """A request whose fields are texts with these descriptions by name."""

    def schema(fields: dict[str, str]) -> dict[str, Any]:
        properties = {field: {"type": "string", "description": told} for field, told in fields.items()}
        return {"type": "object", "properties": properties, "required": list(properties)}

    return ToolRequest(
        name=name, description=description, input_schema=schema(takes), output_schema=schema({name: gives})
    )


MATCHES = "Number of matches of a regular expression in a text file."
FILE, PATTERN = "path of the text file", "the regular expression"


def test_names_that_share_no_word_do_not_make_two_tools_of_one() -> None:
    one = request("count_regex_matches", MATCHES, {"text_path": FILE, "regex": PATTERN})
    other = request("pattern_hits", MATCHES, {"source": FILE, "expression": PATTERN})
    assert same_request(one, other)


@pytest.mark.parametrize(
    ("description", "takes"),
    [
        (
            "Number of lines with matches of a regular expression in a text file.",
            {"source": FILE, "expression": PATTERN},
        ),
        (MATCHES, {"source": FILE, "expression": "the regular expression, read from its end"}),
        (MATCHES, {"source": FILE, "expression": ""}),
        (MATCHES, {"source": FILE}),
    ],
)
def test_what_is_told_otherwise_stays_two(description: str, takes: dict[str, str]) -> None:
    one = request("count_regex_matches", MATCHES, {"text_path": FILE, "regex": PATTERN})
    assert not same_request(one, request("pattern_hits", description, takes))


def test_a_description_that_tells_nothing_joins_nothing() -> None:
    one = request("mean_of_column", "Works it out.", {"path": FILE})
    assert not same_request(one, request("median_of_column", "Works it out.", {"path": FILE}))


BASES = "Writes a whole number from one number base in another."
GIVEN = ("the number in its first base", "base that it is written in, 2 to 36", "base that is wanted, 2 to 36")


@pytest.mark.parametrize(
    ("name", "same"), [("change_number_base", True), ("number_in_base", True), ("base_checksum", False)]
)
def test_a_description_of_common_words_alone_joins_what_is_named_in_common_words_too(name: str, same: bool) -> None:
    one = request("convert_number_base", BASES, dict(zip(("digits", "from_base", "to_base"), GIVEN, strict=True)))
    other = request(name, BASES, dict(zip(("value", "base_in", "base_out"), GIVEN, strict=True)))
    assert same_request(one, other) is same_request(other, one) is same


def _asked(operation: DemoOperation, wording: Wording) -> ToolRequest:
    def schema(slots: Any) -> dict[str, Any]:
        fields = {}
        for slot in slots:
            kind = _ITEMS.get(slot.type)
            typed = {"type": "array", "items": {"type": kind}} if kind else {"type": slot.type}
            fields[wording.fields.get(slot.role, slot.names[0])] = {**typed, "description": slot.description}
        return {"type": "object", "properties": fields, "required": list(fields)}

    return ToolRequest(
        name=wording.name,
        description=operation.description.format(word=wording.word),
        input_schema=schema(operation.inputs),
        output_schema=schema((operation.output,)),
    )


def test_two_parts_of_one_thing_are_two_jobs() -> None:
    """The sections of settings that have a key, and the keys of a section: each says the part of the other too."""
    named = {wording.name: (operation, wording) for operation in all_operations() for wording in operation.wordings}
    one, other = (_asked(*named[name]) for name in ("list_sections_of_settings", "list_keys_of_settings"))
    assert not same_request(one, other)


@pytest.mark.slow
def test_two_wordings_of_a_job_are_mostly_one_build_and_two_jobs_never() -> None:
    asked = [(operation.key, _asked(operation, w)) for operation in all_operations() for w in operation.wordings]
    pairs = list(combinations(asked, 2))
    twins = [same_request(one, other) for (job, one), (its, other) in pairs if job == its]
    assert [
        (one.name, other.name) for (job, one), (its, other) in pairs if job != its and same_request(one, other)
    ] == []
    assert sum(twins) / len(twins) >= LEAST_JOINED
