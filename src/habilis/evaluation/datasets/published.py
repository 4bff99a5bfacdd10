"""The published benchmarks in their own formats: which columns they have, and what a row of each means.

Sources, by name: Humanity's Last Exam (Center for AI Safety and Scale AI; data set cais/hle), GAIA (Mialon et al.,
2023; gaia-benchmark/GAIA), xbench (xbench-ai; xbench/DeepSearch, DeepSearch-2510 and ScienceQA), DeepSearchQA (Google
DeepMind; google/deepsearchqa), FinSearchComp (ByteDance Seed and Columbia Business School;
ByteSeedXpert/FinSearchComp), and those of `tabular`. Columns as of November 2026.

HLE, GAIA and xbench ask that their questions and answers appear nowhere in plain text on the net, where the next model
would learn them by heart. Their rows are marked `guarded`: what a run keeps of them is what a task needs, the question
and its files, never the answer, and xbench is decrypted in memory alone.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from habilis.evaluation.datasets import tabular
from habilis.evaluation.datasets.tabular import Beside

Values = Mapping[str, Any]
Parts = dict[str, Any]
"""By meaning: id, question, answer, files, category, rubric; what else is in it goes into `Row.extra`."""


@dataclass(frozen=True)
class Published:
    """One benchmark. `signature` are columns that tell it from all others, `read` makes the parts of a row.

    `read` raises ValueError for a row that is not as published, and gives None for one that cannot be scored.
    `hub` names its repositories, the usual one first, none where it is not there; `patterns` its files in there.
    `attached`: what its rows need lies in the folder of the table. `beside` opens what lies in other files.
    """

    name: str
    signature: frozenset[str]
    read: Callable[[Values], Parts | None]
    hub: tuple[str, ...]
    patterns: tuple[str, ...]
    leave_out: frozenset[str] = frozenset()
    guarded: bool = False
    attached: bool = False
    beside: Callable[[Path], Beside] | None = None


def _hle(values: Values) -> Parts:
    """HLE: question, `image` (a data: URL, "" for none), `answer_type` exactMatch or multipleChoice."""
    return {
        "id": values.get("id"),
        "question": values.get("question"),
        "answer": values.get("answer"),
        "files": values.get("image"),
        "category": values.get("category"),
        "answer_type": values.get("answer_type"),
    }


def _gaia(values: Values) -> Parts:
    """GAIA: the files lie beside the metadata; the answers of its test split are withheld, which "?" stands for."""
    answer = values.get("Final answer")
    return {
        "id": values.get("task_id"),
        "question": values.get("Question"),
        "answer": None if str(answer or "").strip() in ("", "?") else answer,
        "files": values.get("file_name"),
        "category": f"level {values['Level']}" if values.get("Level") is not None else None,
    }


def _xbench(values: Values) -> Parts:
    """xbench: prompt and answer are base64 of the text, XORed with the row's `canary` over and over."""
    canary = values.get("canary")
    if not isinstance(canary, str) or not canary:
        raise ValueError("no canary, which is the key to its text")
    return {
        "id": values.get("id"),
        "question": decrypted(values.get("prompt"), canary, "prompt"),
        "answer": decrypted(values.get("answer"), canary, "answer"),
        "category": values.get("type") or values.get("category"),
    }


def decrypted(text: Any, key: str, column: str) -> str:
    """The plain text of a cell of xbench. Raises ValueError when it was not encrypted with `key`."""
    try:
        data = base64.b64decode(str(text or ""), validate=True)
        return bytes(byte ^ mask for byte, mask in zip(data, cycle(key.encode()), strict=False)).decode()
    except (binascii.Error, ValueError):
        raise ValueError(f"{column} is not encrypted by its canary; for a decrypted copy say the form (csv)") from None


def _deepsearchqa(values: Values) -> Parts:
    """DeepSearchQA: `answer_type` Single Answer, or Set Answer with the items divided by commas."""
    return {
        "id": values.get("example_id") or values.get("id"),
        "question": values.get("problem"),
        "answer": values.get("answer"),
        "category": values.get("problem_category"),
        "answer_type": values.get("answer_type"),
    }


def _finsearchcomp(parts: Iterable[int]) -> Callable[[Values], Parts | None]:
    wanted = frozenset(parts)

    def read(values: Values) -> Parts | None:
        """FinSearchComp: T1 asks for the figure of the hour and has no lasting answer; T2 and T3 bring a judge's
        system prompt and template with slots, which together are the rubric."""
        label = str(values.get("label") or "")
        part = _part(str(values.get("prompt_id") or ""), label)
        if not part:
            raise ValueError("neither its prompt_id nor its label says which part it is of")
        if part not in wanted:
            return None
        return {
            "id": values.get("prompt_id"),
            "question": values.get("prompt"),
            "answer": values.get("response_reference"),
            "category": label or None,
            "rubric": _rubric(values.get("judge_system_prompt"), values.get("judge_prompt_template")),
        }

    return read


_LABELS = (("time-sensitive", 1), ("simple_historical", 2), ("complex_historical", 3))
_SLOTS = {
    "prompt": "(the question)",
    "question": "(the question)",
    "response_reference": "(the reference answer)",
    "ground_truth": "(the reference answer)",
    "response": "(the response)",
}


def _part(prompt_id: str, label: str) -> int:
    """1, 2 or 3: what the id begins with, `(T2)…`, else what the label says."""
    found = re.match(r"\(T([123])\)", prompt_id)
    if found:
        return int(found[1])
    plain = label.lower().replace("time_sensitive", "time-sensitive")
    return next((part for begin, part in _LABELS if plain.startswith(begin)), 0)


def _rubric(system: Any, template: Any) -> str | None:
    text = "\n\n".join(str(part).strip() for part in (system, template) if part)
    return re.sub(r"\{(\w+)\}", lambda slot: _SLOTS.get(slot[1], slot[0]), text) or None


_FIN = frozenset({"prompt_id", "prompt", "response_reference"})
_FIN_HUB = ("ByteSeedXpert/FinSearchComp",)
_TABLES = ("*.parquet", "*.jsonl", "*.json", "*.csv")

BENCHMARKS: Mapping[str, Published] = {
    one.name: one
    for one in (
        Published(
            "hle",
            frozenset({"id", "question", "answer", "answer_type", "image"}),
            _hle,
            ("cais/hle",),
            ("data/test-*.parquet",),
            frozenset({"image_preview", "rationale", "rationale_image"}),
            guarded=True,
        ),
        Published(
            "gaia",
            frozenset({"task_id", "Question", "file_name"}),
            _gaia,
            ("gaia-benchmark/GAIA",),
            ("2023/validation/*",),
            guarded=True,
            attached=True,
        ),
        Published(
            "xbench",
            frozenset({"prompt", "answer", "canary"}),
            _xbench,
            ("xbench/DeepSearch", "xbench/DeepSearch-2510", "xbench/ScienceQA"),
            _TABLES,
            frozenset({"reference_steps"}),
            guarded=True,
        ),
        Published(
            "deepsearchqa",
            frozenset({"problem", "problem_category", "answer", "answer_type"}),
            _deepsearchqa,
            ("google/deepsearchqa",),
            ("DSQA-full.csv",),
        ),
        Published("finsearchcomp", _FIN, _finsearchcomp((2, 3)), _FIN_HUB, _TABLES),
        Published("finsearchcomp-t2", _FIN, _finsearchcomp((2,)), _FIN_HUB, _TABLES),
        Published("finsearchcomp-t3", _FIN, _finsearchcomp((3,)), _FIN_HUB, _TABLES),
        Published("dabench", tabular.DABENCH_COLUMNS, tabular.dabench, (), (), beside=tabular.beside_dabench),
        Published(
            "wikitables", tabular.WIKITABLES_COLUMNS, tabular.wikitables, (), (), beside=tabular.beside_wikitables
        ),
    )
}
"""By the name that --format takes."""


def recognised(columns: Iterable[str]) -> Published | None:
    """The benchmark that has these columns; None when it is none of them."""
    names = frozenset(columns)
    return next((one for one in BENCHMARKS.values() if one.signature <= names), None)


def of_repository(repository: str) -> Published | None:
    """The benchmark that is published in this repository of the hub."""
    return next((one for one in BENCHMARKS.values() if repository.lower() in map(str.lower, one.hub)), None)
