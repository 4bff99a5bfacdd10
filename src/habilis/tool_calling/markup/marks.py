"""The marks by which families of open models set a tool call apart from what they say, as a table.

Each family writes the same few things in its own signs: where calls begin and end, what stands between a name and its
arguments, how a parameter is named. A reader that knows the signs needs no knowledge of the family, and understands
models that mix two of them. They are written from the grammar of the families' published chat templates; which version
of which template each row agrees with is not recorded.

Vertical bars and low lines of special tokens come in two widths, `|` and `｜`, `_` and `▁`; both are known everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from habilis.core.patterns import lazy_pattern


@dataclass(frozen=True)
class Signs:
    """How one family marks calls. All but `models` are regular expressions.

    `begins` opens a section or a single call, `ends` closes one, `between` stands between a name and its arguments.
    `named` opens a call and gives its name, `parameter` opens a parameter and gives its name, each in its first group;
    `parameter_ends` closes the latter. `plain`: the signs are such as a person may write too, in a text about them.
    """

    models: str
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    parameter: tuple[str, ...] = ()
    parameter_ends: tuple[str, ...] = ()
    plain: bool = False


_QUOTED = r"""["']?([^"'<>\s]{1,200})["']?"""
_BEFORE = r"(?:<\|start\|>)?(?:assistant)?\s{0,3}(?:<\|channel\|>)?"
_BEHIND = (
    r"\s{0,3}(?:<\|channel\|>)?(?:analysis|commentary)?\s{0,3}(?:<\|constrain\|>)?\s{0,3}(?:json|code)?"
    r"\s{0,3}(?:<\|message\|>|(?=\{)|(?=[\w\s<|]{0,20}\Z))"
)
_SPACE = r"(?:｜DSML｜|\|DSML\||steptml:|minimax:)?"

FAMILIES: tuple[Signs, ...] = (
    Signs(
        "Hermes, Qwen, GLM-4.5 and later, Ernie, Exaone, Granite",
        (r"<tool_call>",),
        (r"</tool_call>",),
        parameter=(r"<arg_key>\s*([^<>]{1,200}?)\s*</arg_key>\s*<arg_value>",),
        parameter_ends=(r"</arg_value>",),
        plain=True,
    ),
    Signs(
        "Hunyuan, Jamba, MiniMax-M1, Olmo, Granite-20B, Claude's prompts",
        (r"<tool[-_]calls>", r"<tool-call>", r"<function[-_]calls?>", r"<tool_code>", r"<tool>"),
        (r"</tool[-_]calls>", r"</tool-call>", r"</function[-_]calls?>", r"</tool_code>", r"</tool>"),
        plain=True,
    ),
    Signs("Nemotron", (r"<TOOLCALL>",), (r"</TOOLCALL>",), plain=True),
    Signs("Qwen2.5-Coder by prompt", (r"<tools>",), (r"</tools>",), plain=True),
    Signs(
        "LongCat",
        (r"<longcat_tool_call>",),
        (r"</longcat_tool_call>",),
        parameter=(r"<longcat_arg_key>\s*([^<>]{1,200}?)\s*</longcat_arg_key>\s*<longcat_arg_value>",),
        parameter_ends=(r"</longcat_arg_value>",),
    ),
    Signs(
        "MiniMax-M2, Seed",
        (r"<minimax:tool_call>", r"<seed:tool_call>"),
        (r"</minimax:tool_call>", r"</seed:tool_call>"),
    ),
    Signs(
        "Qwen3-Coder, Seed, Nemotron 3, Functionary, Llama by prompt",
        ends=(r"</function>",),
        named=(rf"<function(?:=|\s+name=){_QUOTED}\s*>",),
        parameter=(r"<param(?:eter)?=([^<>]{1,200}?)>",),
        parameter_ends=(r"</param(?:eter)?>",),
        plain=True,
    ),
    Signs(
        "MiniMax-M2, DeepSeek V3.2, Step, Claude's prompts",
        (rf"<{_SPACE}(?:function_calls|tool_calls)>",),
        (rf"</{_SPACE}(?:invoke|function_calls|tool_calls)>",),
        named=(rf"<{_SPACE}invoke\s+name={_QUOTED}\s*>",),
        parameter=(rf"<{_SPACE}param(?:eter)?\s+name={_QUOTED}(?:\s+string=[\"']?(?:true|false)[\"']?)?\s*>",),
        parameter_ends=(rf"</{_SPACE}param(?:eter)?>",),
        plain=True,
    ),
    Signs(
        "Kimi",
        (r"<\|tool_calls_section_begin\|>", r"<\|tool_call_begin\|>"),
        (r"<\|tool_call_end\|>", r"<\|tool_calls_section_end\|>"),
        (r"<\|tool_call_argument_begin\|>",),
    ),
    Signs(
        "DeepSeek V3, R1 and V3.1, Step",
        (r"<[|｜]tool[_▁]calls?[_▁]begin[|｜]>",),
        (r"<[|｜]tool[_▁]calls?[_▁]end[|｜]>",),
        (r"<[|｜]tool[_▁]sep[|｜]>",),
    ),
    Signs(
        "Mistral",
        (r"\[TOOL_CALLS\]",),
        (r"\[/TOOL_CALLS\]",),
        (r"\[CALL_ID\][A-Za-z0-9]{1,40}\[ARGS\]", r"\[ARGS\]"),
    ),
    Signs("Llama", (r"<\|python_tag\|>", r"<\|python_start\|>"), (r"<\|python_end\|>",)),
    Signs("Granite, Phi", (r"<\|tool_calls?\|>",), (r"<\|/tool_calls?\|>",)),
    Signs("Phi, Firefunction", (r"\bfunctools(?=\s{0,3}\[)",)),
    Signs("LFM, MiniCPM", (r"<\|tool_calls?_start\|>",), (r"<\|tool_calls?_end\|>",)),
    Signs("Command", (r"<\|START_ACTION\|>",), (r"<\|END_ACTION\|>",)),
    Signs("Command R", (r"\bAction:[ \t]?```(?:json)?[ \t]*\n(?=\s{0,8}\[)",), plain=True),
    Signs("InternLM", (r"<\|action_start\|>(?:\s{0,3}<\|(?:plugin|interpreter)\|>)?",), (r"<\|action_end\|>",)),
    Signs("FunctionGemma", (r"<start_function_call>",), (r"<end_function_call>",)),
    Signs("Gemma", (r"<\|tool_call>",), (r"<tool_call\|>",)),
    Signs("Apertus", (r"<\|tools_prefix\|>",), (r"<\|tools_suffix\|>",)),
    Signs(
        "GigaChat, with its special tokens or what is left where a server dropped them",
        (
            r"(?:function call)?<\|role_sep\|>(?=\s{0,3}\{)",
            r"<\|function_call\|>",
            r"\bfunction call(?=\s?\{\s{0,8}\"name\")",
        ),
        (r"<\|message_sep\|>",),
    ),
    Signs(
        "Solar",
        (r"<\|tool_call:begin\|>[^<>|\s]{0,100}<\|tool_call:name\|>",),
        (r"<\|tool_call:end\|>",),
        (r"<\|tool_call:args\|>",),
    ),
    Signs("Pangu", (r"\[unused11\]",), (r"\[unused12\]",)),
    Signs("Qwen by prompt", (r"✿FUNCTION✿:",), (), (r"\s{0,3}✿ARGS✿:",)),
    Signs(
        "gpt-oss (harmony), with its special tokens or what is left where a server dropped them",
        ends=(r"<\|call\|>",),
        named=(
            rf"{_BEFORE}(?:analysis|commentary)?\s{{0,3}}\bto=functions\.([\w.-]{{1,100}}){_BEHIND}",
            rf"{_BEFORE}(?:analysis|commentary)\s{{0,3}}\bto=([\w.-]{{1,100}}){_BEHIND}",
        ),
    ),
)
"""Families whose signs no other row has; a family may use those of several rows."""

ENDS_OF_TURN = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|eos|>",
    "<|end_of_turn|>",
    "<end_of_turn>",
    "<|END_OF_TURN_TOKEN|>",
    "<|END_RESPONSE|>",
    "<|START_RESPONSE|>",
    "<｜end▁of▁sentence｜>",
    "<|end_of_sentence|>",
    "<seed:eos>",
    "<seed:bos>",
    "<|observation|>",
    "<|user|>",
    "<|assistant|>",
    "<|assistant_end|>",
    "<|im_assistant|>",
    "<|role_end|>",
    "<|hy_eos|>",
    "<|eot|>",
    "<|finetune_right_pad_id|>",
    "<｜tool▁outputs▁begin｜>",
    "<start_function_response>",
    "<|message_sep|>",
    "<|end_of_solution|>",
    "<|flush|>",
    "[e~[",
    "<eos>",
    "</s>",
)
"""Special tokens that servers leave standing at the end of a reply, or before it; they say nothing."""
RESULTS = ("<tool_response>", "<tool_result>", "<|tool_response|>", "<function_results>", "<start_function_response>")
"""What a result begins with. A model that writes one itself has invented it, and all behind it."""


def _joined(parts: list[str]) -> str:
    return "|".join(parts)


def _ungrouped(pattern: str) -> str:
    """`pattern` with its one naming group unnamed: which sign it is is enough where many are looked for."""
    return re.sub(r"(?<!\\)\((?!\?)", "(?:", pattern)


def _all(kind: str) -> list[str]:
    return [pattern for family in FAMILIES for pattern in getattr(family, kind)]


def _any_of(kind: str) -> str:
    return _joined([_ungrouped(pattern) for pattern in _all(kind)])


BEGIN = lazy_pattern(_any_of("begins"))
END = lazy_pattern(_any_of("ends"))
BETWEEN = lazy_pattern(rf"\s*(?:{_any_of('between')})")
NAMED = lazy_pattern(_joined(_all("named")))
PARAMETER = lazy_pattern(_joined(_all("parameter")))
PARAMETER_END = lazy_pattern(_any_of("parameter_ends"))
START = lazy_pattern(f"(?P<begin>{_any_of('begins')})|(?P<named>{_any_of('named')})")
"""Where calls may begin."""
MARK = lazy_pattern(_joined([_any_of(kind) for kind in ("begins", "ends", "named")]))
"""Where something else begins than went before."""
PLAIN = lazy_pattern(_joined([_ungrouped(p) for f in FAMILIES if f.plain for p in (*f.begins, *f.named)]))
LAST_OF_PARAMETER = lazy_pattern(
    rf"(?:{_any_of('parameter_ends')})(?=\s*+(?:{_any_of('parameter')}|{_any_of('ends')}|{_any_of('begins')}|"
    rf"{_any_of('named')}|\Z))"
)
"""The end of a parameter's value, which may hold such signs itself: what follows it is another sign."""


def name_in(found: re.Match[str]) -> str:
    """The name that a match of `NAMED` or `PARAMETER` gives."""
    return next(group for group in found.groups() if group is not None).strip()
