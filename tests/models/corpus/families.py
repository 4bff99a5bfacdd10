"""Replies in the call mark-up of each family of open models, made from how the family writes a call.

Each writer is written from the grammar of the family's published chat template, in our own words; no reply was recorded
from a model, and none was compared with a template's or a parser's own output. `development` is what the reader was
written with, `held` was written afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from habilis.core.types import ToolSpec

from . import READ, SEARCH, TIME, Calls

FLAG = ToolSpec(
    name="set_flag",
    description="Set a flag.",
    parameters={
        "type": "object",
        "properties": {
            "label": {"type": "string"},
            "on": {"type": "boolean"},
            "ratio": {"type": ["number", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "mode": {"enum": ["fast", "slow"]},
        },
        "required": ["label"],
    },
)
TOOLS = [READ, SEARCH, TIME, FLAG]
Arguments = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One reply: `calls` are those that it makes whole; `kind` is "whole", "spoilt" (a doubt) or "plain" (an answer).

    `answer` is the text of a plain one, where that is not all of it.
    """

    family: str
    kind: str
    text: str
    calls: Calls = ()
    answer: str | None = None


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def row(name: str, args: Arguments, key: str = "arguments") -> str:
    return dumped({"name": name, key: args})


def bare(value: Any) -> str:
    """A value as it stands between tags: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else dumped(value)


def keyword(name: str, args: Arguments) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"


def loose(value: Any, quote: str) -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{loose(inner, quote)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(loose(inner, quote) for inner in value) + "]"
    return dumped(value)


def each(calls: Calls, one: Callable[[str, Arguments], str], between: str = "\n") -> str:
    return between.join(one(name, args) for name, args in calls)


def tagged(args: Arguments, form: str) -> str:
    return "".join(form.format(key=key, value=bare(value)) for key, value in args.items())


def invoke(name: str, args: Arguments, prefix: str = "") -> str:
    inner = tagged(args, f'<{prefix}parameter name="{{key}}">{{value}}</{prefix}parameter>\n')
    return f'<{prefix}invoke name="{name}">\n{inner}</{prefix}invoke>'


def coder(name: str, args: Arguments) -> str:
    inner = tagged(args, "<parameter={key}>\n{value}\n</parameter>\n")
    return f"<function={name}>\n{inner}</function>"


def dsml_parameter(key: str, value: Any) -> str:
    is_text = str(isinstance(value, str)).lower()
    return f'<｜DSML｜parameter name="{key}" string="{is_text}">{bare(value)}</｜DSML｜parameter>\n'


def dsml(name: str, args: Arguments) -> str:
    inner = "".join(dsml_parameter(key, value) for key, value in args.items())
    return f'<｜DSML｜invoke name="{name}">\n{inner}</｜DSML｜invoke>'


def glm(name: str, args: Arguments) -> str:
    inner = tagged(args, "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
    return f"<tool_call>{name}\n{inner}</tool_call>"


def longcat(name: str, args: Arguments) -> str:
    inner = tagged(args, "<longcat_arg_key>{key}</longcat_arg_key>\n<longcat_arg_value>{value}</longcat_arg_value>\n")
    return f"<longcat_tool_call>{name}\n{inner}</longcat_tool_call>"


def step(name: str, args: Arguments) -> str:
    return f"<｜tool_call_begin｜>function<｜tool_sep｜>{invoke(name, args, 'steptml:')}<｜tool_call_end｜>"


def solar(name: str, args: Arguments) -> str:
    return f"<|tool_call:begin|>a1B2<|tool_call:name|>{name}<|tool_call:args|>{dumped(args)}<|tool_call:end|>"


def kimi(calls: Calls) -> str:
    inner = "".join(
        f"<|tool_call_begin|>functions.{name}:{at}<|tool_call_argument_begin|>{dumped(args)}<|tool_call_end|>"
        for at, (name, args) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"


def deepseek(one: str) -> Callable[[Calls], str]:
    def write(calls: Calls) -> str:
        inner = each(calls, lambda name, args: one.format(name=name, args=dumped(args)))
        return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>"

    return write


def harmony(name: str, args: Arguments) -> str:
    return f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{dumped(args)}<|call|>"


def command(calls: Calls) -> str:
    rows = [{"tool_call_id": str(at), "tool_name": name, "parameters": args} for at, (name, args) in enumerate(calls)]
    return f"<|START_ACTION|>{json.dumps(rows, indent=4, ensure_ascii=False)}<|END_ACTION|>"


def command_r(calls: Calls) -> str:
    rows = [{"tool_name": name, "parameters": args} for name, args in calls]
    return f"Action: ```json\n{json.dumps(rows, indent=4, ensure_ascii=False)}\n```"


def rows(calls: Calls, key: str = "arguments", between: str = ", ") -> str:
    return "[" + between.join(row(name, args, key) for name, args in calls) + "]"


def listed(calls: Calls) -> str:
    return "[" + each(calls, keyword, ", ") + "]"


def in_tag(tag: str, calls: Calls) -> str:
    return each(calls, lambda name, args: f"<{tag}>\n{row(name, args)}\n</{tag}>")


GEMMA = '<|"|>'
Writer = Callable[[Calls], str]
WRITERS: dict[str, tuple[Writer, str]] = {
    "hermes": (lambda calls: in_tag("tool_call", calls), "<|im_end|>"),
    "qwen3-coder": (lambda calls: each(calls, lambda n, a: f"<tool_call>\n{coder(n, a)}\n</tool_call>"), "<|im_end|>"),
    "qwen3-coder without wrapper": (lambda calls: each(calls, coder), "<|im_end|>"),
    "glm-4.5": (lambda calls: each(calls, glm), "<|observation|>"),
    "minimax-m2": (lambda calls: f"<minimax:tool_call>\n{each(calls, invoke)}\n</minimax:tool_call>", "[e~["),
    "minimax-m1": (lambda calls: f"<tool_calls>\n{each(calls, row)}\n</tool_calls>", ""),
    "seed": (lambda calls: f"<seed:tool_call>\n{each(calls, coder)}\n</seed:tool_call>", "<seed:eos>"),
    "deepseek-v3.2": (
        lambda calls: f"<｜DSML｜function_calls>\n{each(calls, dsml)}\n</｜DSML｜function_calls>",
        "<｜end▁of▁sentence｜>",
    ),
    "invoke": (lambda calls: f"<function_calls>\n{each(calls, invoke)}\n</function_calls>", ""),
    "kimi": (kimi, "<|im_end|>"),
    "deepseek-v3": (
        deepseek("<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{args}\n```<｜tool▁call▁end｜>"),
        "<｜end▁of▁sentence｜>",
    ),
    "deepseek-v3.1": (
        deepseek("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{args}<｜tool▁call▁end｜>"),
        "<｜end▁of▁sentence｜>",
    ),
    "mistral-v3": (lambda calls: f"[TOOL_CALLS] {rows(calls)}", "</s>"),
    "mistral-v11": (lambda calls: each(calls, lambda n, a: f"[TOOL_CALLS]{n}[ARGS]{dumped(a)}", ""), "</s>"),
    "mistral-v11 with ids": (
        lambda calls: each(calls, lambda n, a: f"[TOOL_CALLS]{n}[CALL_ID]a1B2c3D4e[ARGS]{dumped(a)}", ""),
        "</s>",
    ),
    "mistral by template": (lambda calls: each(calls, lambda n, a: f"[TOOL_CALLS]{n}{dumped(a)}", ""), "</s>"),
    "llama-3": (lambda calls: each(calls, lambda n, a: row(n, a, "parameters"), "; "), "<|eot_id|>"),
    "llama-3 with tag": (
        lambda calls: "<|python_tag|>" + each(calls, lambda n, a: row(n, a, "parameters"), "; "),
        "<|eom_id|>",
    ),
    "llama-3 pythonic": (listed, "<|eot_id|>"),
    "llama-4": (lambda calls: f"<|python_start|>{listed(calls)}<|python_end|>", "<|eot|>"),
    "granite": (lambda calls: f"<|tool_call|>{rows(calls)}", "<|end_of_text|>"),
    "granite with tag": (lambda calls: f"<tool_call>{rows(calls)}", "<|end_of_text|>"),
    "granite-20b": (lambda calls: each(calls, lambda n, a: f"<function_call> {row(n, a)}"), "<|endoftext|>"),
    "phi-4": (lambda calls: each(calls, lambda n, a: f"<|tool_call|>{row(n, a)}<|/tool_call|>", ""), "<|end|>"),
    "phi-4 functools": (lambda calls: f"functools{rows(calls)}", "<|end|>"),
    "command-r7b": (command, "<|END_OF_TURN_TOKEN|>"),
    "command-r": (command_r, "<|END_OF_TURN_TOKEN|>"),
    "gpt-oss": (lambda calls: each(calls, harmony, "<|start|>assistant"), ""),
    "gpt-oss, role first": (
        lambda calls: each(
            calls,
            lambda n, a: f"<|start|>assistant to=functions.{n}<|channel|>commentary json<|message|>{dumped(a)}<|call|>",
            "",
        ),
        "",
    ),
    "gpt-oss without tokens": (
        lambda calls: each(calls, lambda n, a: f"assistantcommentary to=functions.{n} json{dumped(a)}", ""),
        "",
    ),
    "nemotron": (lambda calls: f"<TOOLCALL>{rows(calls)}</TOOLCALL>", ""),
    "hunyuan": (lambda calls: f"<tool_calls>{rows(calls)}</tool_calls>", "<|eos|>"),
    "internlm": (
        lambda calls: each(
            calls, lambda n, a: f"<|action_start|><|plugin|>\n{row(n, a, 'parameters')}<|action_end|>", "\n"
        ),
        "<|im_end|>",
    ),
    "functiongemma": (
        lambda calls: each(
            calls, lambda n, a: f"<start_function_call>call:{n}{loose(a, '<escape>')}<end_function_call>", ""
        ),
        "<start_function_response>",
    ),
    "gemma-4": (
        lambda calls: each(calls, lambda n, a: f"<|tool_call>call:{n}{loose(a, GEMMA)}<tool_call|>", ""),
        "<end_of_turn>",
    ),
    "lfm2": (lambda calls: f"<|tool_call_start|>{listed(calls)}<|tool_call_end|>", "<|im_end|>"),
    "olmo": (lambda calls: f"<function_calls>\n{each(calls, keyword)}\n</function_calls>", "<|im_end|>"),
    "apertus": (
        lambda calls: f"<|tools_prefix|>{dumped([{n: a} for n, a in calls])}<|tools_suffix|>",
        "<|assistant_end|>",
    ),
    "gigachat": (lambda calls: each(calls, lambda n, a: f"function call<|role_sep|>\n{row(n, a)}"), "<|message_sep|>"),
    "gigachat without tokens": (lambda calls: each(calls, lambda n, a: f"function call{row(n, a)}"), ""),
    "qwen2.5-coder by prompt": (lambda calls: f"<tools>\n{each(calls, row)}\n</tools>", "<|im_end|>"),
    "qwen2.5-coder by prompt, a list": (
        lambda calls: f"<tools>\n{dumped([{'name': n, 'arguments': a} for n, a in calls])}\n</tools>",
        "<|im_end|>",
    ),
    "tags with hyphens": (lambda calls: each(calls, lambda n, a: f"<tool-call>{row(n, a)}</tool-call>"), ""),
    "tool_code tags": (lambda calls: f"<tool_code>\n{each(calls, keyword)}\n</tool_code>", "<end_of_turn>"),
    "wrapped as function_call": (
        lambda calls: each(calls, lambda n, a: dumped({"function_call": {"name": n, "arguments": a}})),
        "",
    ),
    "wrapped as functionCall": (
        lambda calls: each(calls, lambda n, a: dumped({"functionCall": {"name": n, "args": a}})),
        "",
    ),
    "solar": (lambda calls: f"<|tool_calls|>{each(calls, solar)}", "<|flush|>"),
    "step-3": (lambda calls: f"<｜tool_calls_begin｜>{each(calls, step)}<｜tool_calls_end｜>", ""),
    "longcat": (lambda calls: each(calls, longcat), ""),
    "functionary": (lambda calls: each(calls, lambda n, a: f"<function={n}>{dumped(a)}</function>"), "<|eot_id|>"),
    "glm-4": (lambda calls: each(calls, lambda n, a: f"{n}\n{dumped(a)}"), "<|observation|>"),
    "qwen by prompt": (lambda calls: each(calls, lambda n, a: f"✿FUNCTION✿: {n}\n✿ARGS✿: {dumped(a)}"), "<|im_end|>"),
}
"""How each family writes calls, and the token that servers leave behind them."""

ONE: Calls = (("read_rows", {"path": "a.csv", "limit": 3}),)
TWO: Calls = (("search", {"query": "rows of Straße 上海"}), ("read_rows", {"path": "b c.csv"}))
TYPES: Calls = (("set_flag", {"label": "7", "on": True, "ratio": 0.5, "tags": ["x", "y z"], "mode": "fast"}),)
NESTED: Calls = (("read_rows", {"path": "a.csv", "where": {"city": ["Oslo", "Rome"], "deep": {"n": 1}}}),)


def development() -> Iterator[Reply]:
    """What the reader was written with."""
    for family, (write, end) in WRITERS.items():
        yield Reply(family, "whole", f"I look into the file.\n{write(ONE)}", ONE)
        yield Reply(family, "whole", f"{write(TWO)}{end}", TWO)
        yield Reply(family, "whole", write(TYPES), TYPES)
        whole = write(ONE)
        cut = whole[: whole.index("a.csv") + 3]
        yield Reply(family, "spoilt", f"I look into the file.\n{cut}")
    for text in PLAIN:
        yield Reply("plain", "plain", text)
    for text, answer in FRAMED:
        yield Reply("plain", "plain", text, answer=answer)


PLAIN = (
    "It is 7.",
    "The tag <tool_call> opens a call, </tool_call> closes it.",
    "Hermes writes `<tool_call>{...}</tool_call>`, Kimi `<|tool_call_begin|>`.",
    "Mistral's models begin a call with [TOOL_CALLS] and a list.",
    "Write a function:\n```python\ndef search(query):\n    return {query}\n```\nThat is all.",
    'The settings are {"name": "a", "size": 3}, as the file says.',
    '{"total": 7, "rows": [1, 2]}',
    '[{"city": "Oslo", "n": 3}, {"city": "Rome", "n": 4}]',
    "```xml\n<tool_call>\n<function=search>\n</function>\n</tool_call>\n```\nSo does Qwen3-Coder write a call.",
    "In C: `int main() { return 0; }` does nothing.",
    "body {\n  color: red;\n}",
    "The list [1, 2, 3] has three values.",
    "I called search (twice) and read_rows (once); both gave 7.",
    "a < b and b > c, so a <c> d.",
    "Use <b>search</b> and <i>read_rows</i>.",
    "f(x) = {x : x > 0}",
    "The file says: function call, then the arguments.",
    "```\n{\n  open brace\n```\nThe brace above is never closed.",
    "1. search: 3 hits\n2. read_rows: 7 rows",
    "Set to=7 and commentary=none in the file.",
)
FRAMED = (
    ("It is 7.<|im_end|>", "It is 7."),
    ("It is 7.</s>", "It is 7."),
    (
        "<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>It is 7.<|return|>",
        "It is 7.",
    ),
    ("<|START_RESPONSE|>It is 7.<|END_RESPONSE|>", "It is 7."),
    ("analysisEasy.assistantfinalIt is 7.", "It is 7."),
    ("<answer>\nIt is 7.\n</answer>", "It is 7."),
)
