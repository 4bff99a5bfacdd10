"""What is known of two versions before they are compared: the calls that were made of either, and their examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from habilis.contract.aliases import properties
from habilis.contract.contract import ContractError, read_contract
from habilis.contract.records import RecordedCall
from habilis.inputs.relations import Given

if TYPE_CHECKING:
    from habilis.contract.aliases import Alias
    from habilis.library import Tool

_JUDGED = ("success", "failure")


@dataclass(frozen=True)
class RealCalls:
    """Real calls, as calls of the old version: its own, and those of the new one and of other versions of either."""

    records: tuple[RecordedCall, ...] = ()
    others: tuple[RecordedCall, ...] = ()
    examples: tuple[Given, ...] = ()


def evidence_on(
    old: Tool,
    records: Sequence[RecordedCall],
    new: str,
    others: Sequence[RecordedCall],
    alias: Alias | None,
    kept: Sequence[str] = (),
) -> RealCalls:
    """What is known of `old`, with its `records`, and of the version with the text `new`, with `others`. `kept` are
    texts of versions before `old`."""
    own = set(properties(old.input_schema))
    before = [one for text in kept for one in _examples(text) if one.arguments.keys() <= own]
    examples = [*before, *_examples(old.source()), *(_led_back(one, alias) for one in _examples(new))]
    led = [(record, _led_back(Given(record.arguments), alias)) for record in others if record.verdict in _JUDGED]
    return RealCalls(
        tuple(records),
        tuple(record.model_copy(update={"arguments": back.arguments}) for record, back in led if back is not None),
        tuple(example for example in examples if example is not None),
    )


def _led_back(given: Given, alias: Alias | None) -> Given | None:
    """A call of the new version as one of the old; None where it says what the old one cannot."""
    if alias is None:
        return given
    arguments = alias.back(given.arguments)
    return None if arguments is None else replace(given, arguments=arguments)


def _examples(source: str) -> list[Given]:
    """The calls that a writer brought with a tool."""
    try:
        found = read_contract(source).examples
    except ContractError:
        return []
    return [
        Given(one.arguments, {name: text.encode("utf-8", "replace") for name, text in one.files.items()})
        for one in found
    ]
