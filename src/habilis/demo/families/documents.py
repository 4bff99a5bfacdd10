"""JSON documents: the value at a path, how many items a list has, sums and averages of a field."""

from __future__ import annotations

import re
from collections.abc import Mapping

from habilis.demo.operations import Example, Operation, Slot, Wording
from habilis.demo.world import Call, World

ENDINGS = (".json", ".jsonl", ".ndjson")
SMALL = '{"shop": {"name": "Corner"}, "items": [{"name": "lamp", "price": 10}, {"name": "chair", "price": 20}]}'
ROOT = "."

PATH = Slot("path", "string", "path of the JSON file", ("file_path", "json_path", "path", "document"))
KEYS = Slot(
    "keys",
    "string",
    "dotted path to the value, for example items.0.name; . is the whole",
    ("key_path", "dotted_path", "location"),
)
FIELD = Slot("field", "string", "name of the field", ("field", "field_name", "key"))

VALUE = Operation(
    key="json_value",
    description="{word} at a dotted path of a JSON file.",
    inputs=(PATH, KEYS),
    output=Slot("value", "string", "the value, objects and lists as JSON text", ("value", "found", "result")),
    wordings=(
        Wording("value", "get_json_value", "Value"),
        Wording("", "read_json_path", "Value found", {"path": "json_path", "keys": "dotted_path", "value": "found"}),
    ),
    marks=("value", "json", "path"),
    bars="sum|average|mean|number of|minimum|maximum|total|smallest|largest",
    example=Example({"path": "small.json", "keys": "shop.name"}, {"small.json": SMALL}),
    finding="{keys} in {path} is {value}",
    naive="json_value_naive",
    robust="json_value_robust",
    effects="reads",
)
COUNT = Operation(
    key="json_count",
    description="{word} in a list or object at a dotted path of a JSON file.",
    inputs=(PATH, KEYS),
    output=Slot("count", "integer", "how many there are", ("count", "item_count", "length")),
    wordings=(
        Wording(
            "number of", "get_number_of_json_items", "Number of items", {"path": "json_path", "count": "item_count"}
        ),
        Wording("", "count_json_items", "Number of items"),
    ),
    marks=("number of items|count of items|items", "json"),
    bars="sum|average|mean|minimum|maximum|total|field",
    example=Example({"path": "small.json", "keys": "items"}, {"small.json": SMALL}),
    finding="{keys} in {path} holds {value} items",
    naive="json_count_naive",
    robust="json_count_robust",
    effects="reads",
)


def _statistic(key: str, names: Mapping[str, tuple[str, str]], compute: str, mark: str, bars: str) -> Operation:
    return Operation(
        key=f"json_{key}",
        description="{word} of a numeric field over all objects of a JSON file that have it.",
        inputs=(PATH, FIELD),
        output=Slot(key, "number", "the value found", (key, *(noun.lower() for _, noun in names.values()))),
        wordings=tuple(
            Wording(when.strip("*"), name, noun, {"path": PATH.names[i], "field": FIELD.names[i], key: noun.lower()})
            for i, (when, (name, noun)) in enumerate(names.items())
        ),
        marks=(mark, "field", "json"),
        bars=bars,
        example=Example({"path": "small.json", "field": "price"}, {"small.json": SMALL}),
        finding=f"the {key} of {{field}} in {{path}} is {{value}}",
        naive="json_statistic_naive",
        robust="json_statistic_robust",
        effects="reads",
        fill={"compute": compute},
    )


_STATISTICS: dict[str, tuple[str, Operation]] = {
    "sum": ("sum|total|combined|overall", _statistic(
        "sum", {"total|combined|overall": ("total_json_field", "Total"), "*": ("sum_json_field", "Sum")},
        "math.fsum(values)", "sum|total", "average|mean|minimum|maximum|smallest|largest")),
    "average": ("average|mean|typical", _statistic(
        "average", {"mean": ("compute_json_field_mean", "Mean"), "*": ("average_json_field", "Average")},
        "math.fsum(values) / len(values)", "average|mean", "sum|total|minimum|maximum|smallest|largest")),
    "minimum": ("minimum|min|lowest|smallest|cheapest|least", _statistic(
        "minimum", {"*": ("find_smallest_json_field", "Minimum")},
        "min(values)", "minimum|smallest", "sum|total|average|mean|maximum|largest")),
    "maximum": ("maximum|max|highest|largest|biggest|greatest", _statistic(
        "maximum", {"*": ("find_largest_json_field", "Maximum")},
        "max(values)", "maximum|largest", "sum|total|average|mean|minimum|smallest")),
}  # fmt: skip

_KEY = r"[A-Za-z_][\w-]*"
_DOTTED = rf"{_KEY}(?:\.(?:{_KEY}|[0-9]+)|\[[0-9]+\])*"
_ITEMS = r"(?:items?|entries|elements?|objects?|records?|values?|things)"


class Documents:
    """Family of questions about one JSON document. A document is told by its ending."""

    operations = (VALUE, COUNT, *(operation for _, operation in _STATISTICS.values()))

    def read(self, phrase: str, world: World) -> Call | None:
        taken = world.take_file(phrase, ENDINGS) if _may_ask(phrase, world) else None
        if taken is None:
            return None
        text, path = taken[0].strip(), taken[1].named
        text = re.sub(r"^(?:the )?number of |^count (?:of )?(?:the )?", "how many ", text, flags=re.I)
        return _statistics(text, path) or _count(text, path) or _value(text, path)


def _may_ask(phrase: str, world: World) -> bool:
    """Only when a JSON file is named, or is the task's one file: other phrases are other families'."""
    named = [*world.mentions] if "@F" in phrase else [file.named for file in world.files]
    return any(name.lower().endswith(ENDINGS) for name in named)


def _statistics(text: str, path: str) -> Call | None:
    """A statistic of a field. "of all products" changes nothing; "of the ropes" would choose, and is not understood."""
    for words, operation in _STATISTICS.values():
        match = re.fullmatch(
            rf"(?:{words}) (?:value )?(?:of |in |for )?(?:all )?(?:the )?(?:values? of )?(?:the )?[\"'`]?"
            rf"(?P<field>{_KEY})[\"'`]?(?: fields?| values?)?"
            rf"(?: (?:of|for|across|over|among|in) (?:all(?: of)?(?: the)? [\w-]+|(?:the )?{_ITEMS}))?",
            text,
            re.IGNORECASE,
        )
        if match:
            return Call(operation, {"path": path, "field": match["field"]})
    return None


def _count(text: str, path: str) -> Call | None:
    if re.fullmatch(rf"how many (?:top[- ]level )?(?:{_ITEMS}|keys)(?: are there| are)?", text, re.I):
        return Call(COUNT, {"path": path, "keys": ROOT})
    inner = re.fullmatch(
        rf"how many {_ITEMS} (?:are |are there )?(?:in|under|at|inside|of|does|has)(?: the)? [\"'`]?"
        rf"(?P<key>{_DOTTED})[\"'`]?(?: list| array| object| key| have| contain)?",
        text,
        re.I,
    )
    plain = re.fullmatch(rf"how many [\"'`]?(?P<key>{_DOTTED})[\"'`]?(?: are there| are| are listed)?", text, re.I)
    match = inner or plain
    return Call(COUNT, {"path": path, "keys": _dotted(match["key"])}) if match else None


def _value(text: str, path: str) -> Call | None:
    match = re.fullmatch(
        rf"(?:value|content|contents|entry) (?:of|at|for|under|stored (?:at|under)) (?:the )?"
        rf"(?:key |field |path |entry )?[\"'`]?(?P<key>{_DOTTED})[\"'`]?",
        text,
        re.I,
    ) or re.fullmatch(
        rf"(?:key |field |path )?[\"'`]?(?P<key>{_KEY}(?:\.(?:{_KEY}|[0-9]+)|\[[0-9]+\])+)[\"'`]?(?: is| set to)?",
        text,
        re.I,
    )
    if match:
        return Call(VALUE, {"path": path, "keys": _dotted(match["key"])})
    chain = re.fullmatch(rf"(?P<field>{_KEY}) of (?:the )?(?P<key>{_KEY})", text, re.I)
    if chain:
        return Call(VALUE, {"path": path, "keys": f"{chain['key']}.{chain['field']}"})
    return None


def _dotted(key: str) -> str:
    return re.sub(r"\[([0-9]+)\]", r".\1", key)
