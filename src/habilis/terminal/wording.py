"""How things are put into words: text that a terminal can be trusted with, sizes, ages, durations."""

from __future__ import annotations

import json
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from typing import Any

from habilis.core.errors import UserError

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BREAK = re.compile("[\t\n\u2028\u2029]")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def plain(text: str) -> str:
    """`text` with control and direction characters written out, so that it cannot steer a terminal."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape", "replace").decode(), text)


def report_line(text: str) -> str:
    """`text` as one line of a report: line breaks and tabs are written out too, so that it forges no line beside it."""
    return _BREAK.sub(lambda found: found[0].encode("unicode_escape").decode(), plain(text))


def one_line(text: str, width: int = 200) -> str:
    """`text` on one line, at most `width` characters."""
    line = plain(" ".join(text[: 4 * width].split()))
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def plan_text(plan: Mapping[str, Any]) -> str:
    """A plan's tools: those that it reuses, each with what it said that the tool is for, and those to build."""
    if plan.get("by") == "rule" and plan["build"]:
        return "one new tool, written with its first call"
    serves = plan.get("serves", {})
    reused = [f"{name}: {one_line(serves[name], 80)}" if serves.get(name) else name for name in plan["reuse"]]
    built = [request["name"] for request in plan["build"]]
    parts = [f"{word} {', '.join(names)}" for word, names in (("use", reused), ("build", built)) if names]
    return " · ".join(parts) or "no tools"


def call_text(tool: str, arguments: Mapping[str, Any], width: int = 160) -> str:
    """A tool call as a reader would write it, long values shortened evenly."""
    share = max(16, width // max(1, len(arguments)))
    parts = [
        f"{name}={one_line(json.dumps(value, ensure_ascii=False, default=str), share)}"
        for name, value in arguments.items()
    ]
    return one_line(f"{tool}({', '.join(parts)})", width + len(tool) + 2)


def size_text(count: int) -> str:
    """Bytes for people: `950 B`, `1.4 MB`."""
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"


def seconds_text(seconds: float) -> str:
    """A duration for people: `0.2 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def age_text(seconds: float) -> str:
    """An age for people: `just now`, `5 min`, `3 h`, `12 d`."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "just now"


def seconds_of(text: str, option: str) -> float:
    """Seconds that `90`, `30s`, `5m`, `12h`, `30d` or `2w` mean. Raises `UserError` naming `option`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw]?)", text.strip().lower())
    if not found:
        raise UserError(f"{option} {text}: expected a time such as 90, 30s, 5m, 12h or 30d")
    return float(found[1]) * _SECONDS[found[2] or "s"]


def seconds_in(option: str) -> Callable[[str], float]:
    """Reads the value of `option` with `seconds_of`."""
    return lambda text: seconds_of(text, option)


def count_of(text: str) -> int:
    """The number that `2000` or `2_000` means. Raises `ArgumentTypeError`."""
    if not re.fullmatch(r"\d{1,12}", text.replace("_", "")):
        raise ArgumentTypeError(f"{text}: expected a number")
    return int(text.replace("_", ""))


def bytes_of(text: str, option: str) -> int:
    """Bytes that `500MB`, `2GB`, `1.5G` or `1000` mean. Raises `UserError` naming `option`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    if not found:
        raise UserError(f"{option} {text}: expected a size such as 500MB or 2GB")
    return int(float(found[1]) * _BYTES[found[2]])
