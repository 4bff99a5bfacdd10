"""What stands between the tags of a parameter, as the value that the tool's schema asks for there."""

from __future__ import annotations

from typing import Any

from habilis.core.types import ToolSpec
from habilis.messages.arguments import decoder

_WORDS = {"True": True, "False": False, "None": None}
_DECODER = decoder()


def parameter_value(spec: ToolSpec | None, name: str, text: str) -> Any:
    """`text` as the parameter `name` of `spec` wants it: as it is for text, else as the JSON that it is.

    What cannot be read as the type that is asked for stays text, so that the check of the call says so. One line
    break on either side belongs to the tags.
    """
    bare = _without_breaks(text)
    properties = spec.parameters.get("properties") if spec else None
    schema = properties.get(name) if isinstance(properties, dict) else None
    kinds = _kinds(schema)
    if kinds == {"string"} or _is_choice(schema, bare):
        return bare
    try:
        value = _read(bare.strip())
    except (ValueError, RecursionError):
        return bare
    return bare if "string" in kinds and not _is_of(value, kinds - {"string"}) else value


def _without_breaks(text: str) -> str:
    text = text[2:] if text.startswith("\r\n") else text.removeprefix("\n")
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _read(text: str) -> Any:
    """A value of JSON, or a word of Python. Raises ValueError."""
    if text in _WORDS:
        return _WORDS[text]
    return _DECODER.decode(text)


def _kinds(schema: Any) -> set[str]:
    """The types that a schema allows; none where it names none."""
    if not isinstance(schema, dict):
        return set()
    said = schema.get("type")
    found = {said} if isinstance(said, str) else set(said) if isinstance(said, list) else set()
    for key in ("anyOf", "oneOf"):
        for part in schema.get(key) or ():
            found |= _kinds(part)
    return found


def _is_choice(schema: Any, text: str) -> bool:
    choices = schema.get("enum") if isinstance(schema, dict) else None
    return isinstance(choices, list) and text in choices


def _is_of(value: Any, kinds: set[str]) -> bool:
    """Whether a value is of one of `kinds`; of a type that is not text where none is named."""
    if value is None:
        return "null" in kinds
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, int | float):
        return "number" in kinds or ("integer" in kinds and float(value).is_integer())
    return ("object" if isinstance(value, dict) else "array" if isinstance(value, list) else "string") in kinds
