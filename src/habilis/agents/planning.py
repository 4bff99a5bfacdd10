"""From what a model says of a plan to a plan that can be trusted: names checked, schemas made, requests in bounds."""

from __future__ import annotations

import difflib
import keyword
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from habilis.contract.aliases import properties
from habilis.core.types import JsonSchema, Plan, ToolCard, ToolRequest
from habilis.library.retrieval.relevance import other_operation, shares_nothing

FieldType = Literal["string", "integer", "number", "boolean", "array_of_strings", "array_of_numbers", "object"]
_SCHEMAS: dict[str, JsonSchema] = {
    "array_of_strings": {"type": "array", "items": {"type": "string"}},
    "array_of_numbers": {"type": "array", "items": {"type": "number"}},
}
_KEYWORDS = ("type", "title", "description", "properties", "additionalProperties", "$schema", "$defs", "definitions")
MAX_PARAMETERS = 5
MOST_ANEW = 2
"""New tools of a plan that follows one none of whose tools could be built."""
_WEB = re.compile(
    r"https?:|www\.|\b\w+\.(?:com|org|net|edu|gov|info|io)\b|wikipedia|internet|网|ネット|интернет|веб|الإنترنت"
    r"|\b(?:web\w*|online|urls?|pages?|articles?|blogs?|news|published|latest|current(?:ly)?|today|now"
    r"|search|look(?:ed)? up|aktuell\w*|actuel\w*|actual(?:es|mente)?)\b",
    re.IGNORECASE,
)
MAX_WORD = 160
"""Characters of what a plan says of a tool that it reuses."""


def asks_for_web(question: str) -> bool:
    """Whether `question` may be about what stands on the web. To a weak model that computes something, advice on pages
    is a plan to copy."""
    return _WEB.search(question) is not None


def _nothing_left_out(schema: JsonSchema) -> None:
    """Servers that decode by a schema then give every field; replies of others are read without it."""
    schema.pop("description", None)
    schema["required"] = list(schema["properties"])
    for field in schema["properties"].values():
        field.pop("default", None)


def _as_asked_for(schema: JsonSchema) -> None:
    """`required` is read where a model gives it, and not asked for: it is seldom false, and the form stands in every
    plan's prompt."""
    del schema["properties"]["required"]
    _nothing_left_out(schema)


class FieldReply(BaseModel):
    """One parameter or result field. Flat and bounded, so that every server's structured output can give it."""

    model_config = ConfigDict(json_schema_extra=_as_asked_for)

    name: str = Field(max_length=60)
    type: FieldType = "string"
    description: str = Field(default="", max_length=200)
    required: bool = True

    @field_validator("name")
    @classmethod
    def _as_identifier(cls, name: str) -> str:
        """Fields become attributes of a Pydantic class: `file path` is asked for as `file_path`."""
        plain = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", name)).strip("_") or "value"
        if not plain.isidentifier():
            plain = f"field_{re.sub(r'[^a-zA-Z0-9_]+', '_', plain)}"
        return f"{plain}_" if keyword.iskeyword(plain) or plain == "model_config" else plain


class ToolRequestReply(BaseModel):
    model_config = ConfigDict(json_schema_extra=_nothing_left_out)

    name: str = Field(max_length=80)
    description: str = Field(max_length=400)
    parameters: list[FieldReply] = Field(default_factory=list, max_length=8)
    returns: list[FieldReply] = Field(default_factory=list, max_length=8, json_schema_extra={"minItems": 1})

    @model_validator(mode="before")
    @classmethod
    def _from_schemas(cls, data: Any) -> Any:
        """Models trained on other systems send `input_schema` and `output_schema`: the same, said as JSON schema."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for old, new in (("input_schema", "parameters"), ("output_schema", "returns")):
            schema = data.pop(old, None)
            if new not in data and isinstance(schema, dict):
                data[new] = fields_of(schema)
        return data


class ReuseReply(BaseModel):
    """A tool to reuse and the model's word on what of the question it does."""

    model_config = ConfigDict(json_schema_extra=_nothing_left_out)

    name: str
    serves: str = Field(default="", json_schema_extra={"maxLength": MAX_WORD})

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, data: Any) -> Any:
        """A bare name is read too: some models give no more, and what was recorded once stays readable."""
        return {"name": data} if isinstance(data, str) else data

    @field_validator("serves", mode="before")
    @classmethod
    def _in_bounds(cls, word: Any) -> Any:
        return " ".join(word.split())[:MAX_WORD] if isinstance(word, str) else "" if word is None else word


class PlanReply(BaseModel):
    model_config = ConfigDict(json_schema_extra=_nothing_left_out)

    required_tool_names: list[ReuseReply] = Field(default_factory=list, max_length=20)
    tool_requests: list[ToolRequestReply] = Field(default_factory=list, max_length=6)
    tool_usage_guidance: str = Field(default="", max_length=1_000)


@lru_cache(maxsize=64)
def plan_form(names: tuple[str, ...]) -> type[PlanReply]:
    """The form of a plan that can reuse `names` and no other tool, where a server decodes by it.

    A plan that names others all the same can be read by it too: `as_plan` sorts them out.
    """

    class Form(PlanReply):
        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> JsonSchema:
            return _plan_schema(names)

    Form.__name__ = PlanReply.__name__
    return Form


def _plan_schema(names: tuple[str, ...]) -> JsonSchema:
    """What a plan that can reuse `names` looks like. Pydantic works the parts out once, not for each plan."""
    schema, reuse = deepcopy(_plan_parts())
    if names:
        reuse["properties"]["name"] = {"enum": list(names), "type": "string"}
        schema["properties"]["required_tool_names"]["items"] = reuse
    else:
        del schema["properties"]["required_tool_names"]
        schema["required"].remove("required_tool_names")
    return schema


@lru_cache(maxsize=1)
def _plan_parts() -> tuple[JsonSchema, JsonSchema]:
    return PlanReply.model_json_schema(), ReuseReply.model_json_schema()


def fields_of(schema: JsonSchema) -> list[dict[str, Any]]:
    """The properties of an object schema, or of a plain mapping of names to types, as flat fields."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        words = _KEYWORDS if schema.get("type") == "object" else ()  # an object schema that names no property
        properties = {name: said for name, said in schema.items() if name not in words}
        if isinstance(required, list):
            properties.pop("required", None)
    fields = []
    for name, said in properties.items():
        said = said if isinstance(said, dict) else {"type": str(said)}
        fields.append(
            {
                "name": name[:60],
                "type": _flat_type(said),
                "description": str(said.get("description", ""))[:200],
                "required": name in required if isinstance(required, list) else "default" not in said,
            }
        )
    return fields


def _flat_type(said: JsonSchema) -> FieldType:
    """The nearest flat type of a schema that a model wrote, whatever it wrote."""
    options = said.get("anyOf") or said.get("oneOf")
    branches = [said, *(options if isinstance(options, list) else [])]
    kinds: list[Any] = []
    for branch in branches:
        kind = branch.get("type") if isinstance(branch, dict) else None
        kinds += kind if isinstance(kind, list) else [kind]
    if "array" in kinds:
        items: JsonSchema = next(
            (b["items"] for b in branches if isinstance(b, dict) and isinstance(b.get("items"), dict)), {}
        )
        return "array_of_numbers" if items.get("type") in ("number", "integer") else "array_of_strings"
    flat: tuple[FieldType, ...] = ("string", "integer", "number", "boolean", "object")
    return next((kind for kind in flat if kind in kinds), "string")


def schema_of(fields: Sequence[FieldReply]) -> JsonSchema:
    """The object schema that flat fields stand for."""
    return {
        "type": "object",
        "properties": {
            field.name: {**_SCHEMAS.get(field.type, {"type": field.type}), "description": field.description}
            for field in fields
        },
        "required": [field.name for field in fields if field.required],
    }


def as_plan(reply: PlanReply, library: Collection[str], *, known: Sequence[str]) -> tuple[Plan, list[str]]:
    """The plan behind `reply` and remarks on what was changed in it, for the next plan and for the person.

    A name is taken if the library has it, corrected to the one near name among the candidates, else dropped. A
    request for a tool that the library has becomes a reuse. Requests with too many parameters keep the required ones.
    """
    reuse: list[str] = []
    remarks: list[str] = []
    serves: dict[str, str] = {}
    build: dict[str, ToolRequest] = {}
    asked = {request.name for request in reply.tool_requests}
    for entry in reply.required_tool_names:
        if (name := _meant(entry.name, library, known, asked, remarks)) is not None:
            reuse.append(name)
            if entry.serves:
                serves.setdefault(name, entry.serves)
    for request in reply.tool_requests:
        if request.name in library:
            reuse.append(request.name)
        else:
            build.setdefault(request.name, _request(request, remarks))
    plan = Plan(
        reuse=tuple(dict.fromkeys(reuse)),
        serves=serves,
        build=tuple(build.values()),
        guidance=reply.tool_usage_guidance.strip(),
    )
    return plan, remarks


def _meant(
    name: str, library: Collection[str], known: Sequence[str], asked: Collection[str], remarks: list[str]
) -> str | None:
    """The tool that a plan means by `name`; None where there is none. What is wrong with it goes to `remarks`."""
    if name in library:
        return name
    near = difflib.get_close_matches(name, known, 2, 0.8)
    if len(near) == 1:
        remarks.append(f"There is no tool {name!r}; {near[0]} was taken for it.")
        return near[0]
    if name not in asked:
        remarks.append(f"There is no tool {name!r}; it was left out.")
    return None


def _request(reply: ToolRequestReply, remarks: list[str]) -> ToolRequest:
    fields = reply.parameters
    if len(fields) > MAX_PARAMETERS:
        fields = sorted(fields, key=lambda field: not field.required)[:MAX_PARAMETERS]
        remarks.append(f"{reply.name}: more than {MAX_PARAMETERS} parameters were asked for; the rest was dropped.")
    return ToolRequest(
        name=reply.name,
        description=reply.description,
        input_schema=schema_of(fields),
        output_schema=schema_of(reply.returns or [FieldReply(name="result", description="what was found")]),
    )


def without_misfits(plan: Plan, said: str, card_of: Callable[[str], ToolCard | None]) -> tuple[Plan, list[str]]:
    """`plan` without the tools whose word gives them away, and a remark on each: it names another operation than the
    tool does, or nothing of what was `said` in the task. A tool of which the plan says nothing stays."""
    remarks = []
    for name, word in plan.serves.items():
        card = card_of(name)
        if card is None:
            continue
        if other := other_operation(card, word):
            remarks.append(
                f'{name} was left out: it is to do "{word}", but what it does is another operation ({other}).'
            )
        elif shares_nothing(said, word):
            remarks.append(f'{name} was left out: "{word}" is nothing that the question asks.')
        else:
            continue
        kept = {other: said for other, said in plan.serves.items() if other != name}
        plan = plan.model_copy(update={"reuse": tuple(n for n in plan.reuse if n != name), "serves": kept})
    return plan, remarks


def with_fewer_builds(plan: Plan) -> tuple[Plan, list[str]]:
    """`plan` after one none of whose tools could be built: with at most `MOST_ANEW` new ones, and a remark on each that
    was left out. A writer that failed at one tool would fail at five at five times the price."""
    told = [
        f"{request.name} was not built: at most {MOST_ANEW} tools are, after a plan whose tools all failed."
        for request in plan.build[MOST_ANEW:]
    ]
    return plan.model_copy(update={"build": plan.build[:MOST_ANEW]}), told


def asked_again(plan: Plan, before: Plan) -> str:
    """The tools of `plan` where it has no others than `before`, by name and arguments; else nothing. Their writer would
    be told nothing new."""
    known = {(request.name, *properties(request.input_schema)) for request in before.build}
    asked = [(request.name, *properties(request.input_schema)) for request in plan.build]
    if plan.reuse or not asked or not known.issuperset(asked):
        return ""
    return ", ".join(name for name, *_ in asked)


def without_builds(plan: Plan, remarks: Sequence[str]) -> tuple[Plan, list[str]]:
    """`plan` for a run in which no tool is made, and a remark on each that was asked for."""
    told = [f"{request.name} was not built: no new tool can be built in this run." for request in plan.build]
    return plan.model_copy(update={"build": ()}), [*remarks, *told]
