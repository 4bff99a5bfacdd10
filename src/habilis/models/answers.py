"""Answers that must fit a JSON schema of the user's own."""

from __future__ import annotations

import itertools
import json
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema, create_model

from habilis.core.errors import UserError
from habilis.core.types import JsonSchema
from habilis.messages.calls import misfits
from habilis.schemas.checking import MAX_NODES, Checker, SchemaFault, unchecked_patterns
from habilis.schemas.references import pointed


class _Answer(BaseModel):
    """`final_answer` is as the schema has it; one that is too long is no answer, so it is never cut."""

    uncut: ClassVar[tuple[str, ...]] = ("final_answer",)


def read_schema(given: str) -> JsonSchema:
    """The JSON schema in the file `given`, or `given` itself where it is an object's JSON. Raises `UserError`."""
    typed = given.lstrip().startswith("{")
    where = "--schema" if typed else f"--schema {given}"
    try:
        schema = json.loads(given if typed else Path(given).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"{where}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where} is not JSON: {' '.join(str(error).split())}") from None
    return checked_schema(schema, where)


def checked_schema(schema: Any, where: str = "answer_schema") -> JsonSchema:
    """`schema` if it is a JSON schema that holds all that it refers to. Raises `UserError` that begins with `where`."""
    if not isinstance(schema, dict):
        raise UserError(f'{where}: a JSON schema is an object, such as {{"type": "object", "properties": …}}')
    try:
        Checker(schema)
    except SchemaFault as fault:
        raise UserError(f"{where} {fault}") from None
    if unchecked := unchecked_patterns(schema):
        told = f"the pattern {unchecked[0][:100]!r} cannot be checked: it is too large, or looks around or back"
        raise UserError(f"{where}: {told}; write a simpler one")
    return schema


def answer_type(schema: JsonSchema) -> type[BaseModel]:
    """The form of an answer whose `final_answer` fits `schema`."""
    return _answer_type(json.dumps(schema, sort_keys=True, ensure_ascii=False))


@lru_cache(maxsize=16)
def _answer_type(text: str) -> type[BaseModel]:
    schema: JsonSchema = json.loads(text)

    def fit(value: Any) -> Any:
        wrong = misfits(value, schema)
        inner = _loaded(value) if wrong and isinstance(value, str) else None
        if inner is not None and not misfits(inner, schema):
            return inner  # JSON in a string, which models like to send
        if wrong:
            raise ValueError("; ".join(wrong))
        return value

    kind = Annotated[Any, AfterValidator(fit), WithJsonSchema(_inlined_within(schema))]
    summary = Field(default="", max_length=1_500)
    return create_model("AnswerReply", __base__=_Answer, final_answer=(kind, ...), reasoning_summary=(str, summary))


def answer_text(value: Any) -> str:
    """An answer as the text that people see: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _inlined_within(schema: JsonSchema) -> JsonSchema:
    """`schema` without references, as far as that is short: each may hold two others, and so on."""
    room = itertools.count(MAX_NODES, -1)

    def inlined(node: Any, trail: tuple[str, ...]) -> Any:
        """Where a schema holds itself, and where it grows too long, the servers are told nothing, and only we check."""
        if isinstance(node, list):
            return [inlined(item, trail) for item in node]
        if not isinstance(node, dict):
            return node
        if next(room) < 0:
            return {}
        reference = node.get("$ref")
        left_out = {"$ref", *(("$defs", "definitions", "$schema", "$id") if node is schema else ())}
        rest = {key: inlined(value, trail) for key, value in node.items() if key not in left_out}
        if not isinstance(reference, str):
            return rest
        return {**({} if reference in trail else inlined(pointed(schema, reference), (*trail, reference))), **rest}

    try:
        made: JsonSchema = inlined(schema, ())
    except RecursionError:  # a long chain of references
        return {}
    return made
