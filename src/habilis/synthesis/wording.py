"""Requests that say the same in the same words, whatever their names are: one description, and fields told alike.

Names are a matter of taste; what a tool does, takes and gives is told in its description and in those of its fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from habilis.core.types import JsonSchema, ToolRequest
from habilis.synthesis.implications import says_nothing
from habilis.synthesis.vocabulary import spoken

LEAST_WORDS, LEAST_TOLD = 5, 2
"""Words that a description must have to tell one tool from another, and how many of them must tell something for names
not to matter."""


def worded_alike(one: ToolRequest, other: ToolRequest) -> bool:
    """Whether two requests describe the tool and each of its fields alike, synonyms as one word, in the same order."""
    said = _words(one.description)
    told = _telling(said)
    return (
        len(said) >= LEAST_WORDS
        and told == _telling(_words(other.description))
        and (len(told) >= LEAST_TOLD or (said == _words(other.description) and _named_alike(one, other)))
        and paired_by_description(one.input_schema, other.input_schema) is not None
        and paired_by_description(one.output_schema, other.output_schema) is not None
    )


def paired_by_description(one: JsonSchema, other: JsonSchema) -> dict[str, str] | None:
    """Each field of `one` with the field of `other` that is described alike; None where not each has its own."""
    ours, theirs = _described(one), _described(other)
    if ours is None or theirs is None or ours.keys() != theirs.keys():
        return None
    return {name: theirs[told] for told, name in ours.items()}


def _described(schema: JsonSchema) -> dict[tuple[str, ...], str] | None:
    """Names of fields by their types and what is told of them; None where one is told nothing of, or two the same."""
    found: dict[tuple[str, ...], str] = {}
    fields = schema.get("properties")
    for name, field in fields.items() if isinstance(fields, Mapping) else ():
        if name == "error":
            continue
        words = _words(str(field.get("description", ""))) if isinstance(field, Mapping) else ()
        if not words or (key := (str(field.get("type", "any")), *words)) in found:
            return None
        found[key] = name
    return found


def _named_alike(one: ToolRequest, other: ToolRequest) -> bool:
    """Whether names tell the same, if anything, where a description of common words does not tell enough."""
    return {*_telling(_words(one.name))} == {*_telling(_words(other.name))}


def _telling(words: tuple[str, ...]) -> list[str]:
    return [word for word in words if not says_nothing(word)]


def _words(text: str) -> tuple[str, ...]:
    """The words of a text, each once, synonyms as one word."""
    return tuple(dict.fromkeys(word for word in spoken(text) if any(map(str.isalnum, word))))
