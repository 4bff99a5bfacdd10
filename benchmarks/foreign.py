"""A library of somebody else's: many small tools taken over, and proved, timed.

    python benchmarks/foreign.py [TOOLS]

The tools are made by a seed: sums and texts, tables and dates, some with a file or a host, some of equal code under
other names, some that lack a dependency or cannot be read. Most bring no example, as tools of others do.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from habilis.config import Settings
from habilis.curation.manual.duplicates import duplicates
from habilis.curation.manual.gates import make_host
from habilis.curation.manual.trying import try_tools
from habilis.exchange.importing import Importer
from habilis.library import Library
from measure import machine

TOOLS = 1_800
SEED = 7
HEAD = '"""{about}"""\n\n{imports}\nfrom pydantic import BaseModel, Field\n\n'
META = '__TOOL_META__ = {{"name": "{name}", "description": "{about}", "dependencies": []}}\n\n\n'
FORM = """class InputModel(BaseModel):
{takes}


class OutputModel(BaseModel):
    {gives} | None = None
    error: str | None = None


def run(input: InputModel) -> OutputModel:
{body}
"""
NUMBERS = "    first: float\n    second: float = Field(..., description='the other number')"
KINDS: tuple[tuple[str, str, str, str, str], ...] = (
    ("affine", "", NUMBERS, "value: float", "    return OutputModel(value={n} * input.first + input.second - {m})"),
    ("ratio", "", NUMBERS, "ratio: float", "    return OutputModel(ratio=(input.first + {n}) / (input.second + {m}))"),
    ("repeat", "", "    text: str", "text: str", "    return OutputModel(text=input.text.strip() * ({n} % 5 + 1))"),
    (
        "words",
        "import re",
        "    text: str",
        "count: int",
        "    return OutputModel(count=len(re.findall('.', input.text)) + {n})",
    ),
    ("total", "", "    values: list[float]", "total: float", "    return OutputModel(total=sum(input.values) * {n})"),
    (
        "day",
        "import datetime",
        "    date: str = Field(..., description='a day as YYYY-MM-DD')",
        "day: str",
        "    day = datetime.date.fromisoformat(input.date)\n"
        "    return OutputModel(day=(day + datetime.timedelta(days={n})).isoformat())",
    ),
    (
        "lines",
        "",
        "    path: str = Field(..., description='path of a text file')",
        "lines: int",
        "    with open(input.path, encoding='utf-8') as stream:\n"
        "        return OutputModel(lines=len(stream.readlines()) + {n})",
    ),
    (
        "unit",
        "",
        "    amount: float\n    unit: str = Field(..., description='one of: km, m, or cm')",
        "metres: float",
        "    return OutputModel(metres=input.amount * {{'km': 1000, 'm': 1, 'cm': 0.01}}[input.unit] + {n})",
    ),
    ("fixed", "", "    scale: str = 'kelvin'", "value: float", "    return OutputModel(value=293.15)"),
    (
        "page",
        "import urllib.request",
        "    city: str",
        "text: str",
        "    address = 'https://weather.example/' + input.city + '/{n}'\n"
        "    return OutputModel(text=urllib.request.urlopen(address).read().decode())",
    ),
)
LACKING = ("import yaml", "import requests", "from PIL import Image", "import bs4", "from sklearn import svm")


def foreign(folder: Path, tools: int = TOOLS) -> list[set[str]]:
    """Fill `folder` with tool files, the same for one number. Returns which of them are of equal code."""
    lot, alike = random.Random(SEED), dict[str, set[str]]()
    folder.mkdir(parents=True)
    for number in range(tools):
        kind, imports, takes, gives, body = KINDS[number % len(KINDS)]
        name, about = f"{kind}_{number:04d}", f"The {kind} of what is given, number {number}."
        same = number % 31 < 2
        n, m = (3, 4) if same else (lot.randint(2, 9_999), lot.randint(2, 9_999))
        if number % 29 == 0:
            imports = "\n".join(filter(None, [imports, lot.choice(LACKING)]))
        source = HEAD.format(about=about, imports=imports) + META.format(name=name, about=about)
        source += FORM.format(takes=takes, gives=gives, body=body.format(n=n, m=m))
        alike.setdefault(f"{imports} {takes} {gives} {body.format(n=n, m=m)}", set()).add(name)
        (folder / f"{name}.py").write_text(source if number % 227 else "def (", encoding="utf-8")
    return [names for names in alike.values() if len(names) > 1]


def joined(groups: Sequence[set[str]], pairs: Sequence[tuple[str, str]]) -> int:
    """How many of `groups` are held together by `pairs`."""

    def whole(group: set[str]) -> bool:
        held = {min(group)}
        while more := {name for pair in pairs if held & set(pair) for name in pair if name in group} - held:
            held |= more
        return held == group

    return sum(map(whole, groups))


async def timed(home: Path, tools: int) -> list[tuple[str, str]]:
    """What taking over and proving `tools` tools below `home` came to."""
    alike = foreign(home / "theirs", tools)
    settings = Settings()
    host = make_host(settings)
    began = time.perf_counter()
    try:
        report = await Importer(home / "ours", settings, host).run([home / "theirs"])
    finally:
        await host.aclose()
    taken = time.perf_counter() - began
    library = Library(home / "ours")
    began = time.perf_counter()
    found = (await try_tools(library, library.names(), settings)).proved
    proving = time.perf_counter() - began
    began = time.perf_counter()
    pairs, _ = await duplicates(library, settings)
    looking = time.perf_counter() - began
    proposed = [pair.tools for pair in pairs if pair.verdict in ("same", "equal")]
    there = [group for names in alike if len(group := names & set(library.names())) > 1]
    ways = {way: sum(one.ending == way for one in found) for way in ("proved", "network", "files", "failed")}
    return [
        ("taken over, seconds", f"{taken:.1f}"),
        ("in figures", report.sums.text),
        ("proved, seconds", f"{proving:.1f}"),
        *((f"ended: {way}", f"{count}") for way, count in ways.items()),
        ("proved, of those that reach no host", f"{ways['proved'] / (len(found) - ways['network']):.0%}"),
        ("groups of equal code, proposed whole by dedupe", f"{joined(there, proposed)} of {len(there)}"),
        ("dedupe, seconds", f"{looking:.1f}"),
    ]


def main() -> None:
    tools = int(sys.argv[1]) if len(sys.argv) > 1 else TOOLS
    with tempfile.TemporaryDirectory() as home:
        rows = asyncio.run(timed(Path(home), tools))
    print(f"{tools} tools of others, made by seed {SEED}; {machine()}.\n")
    print("\n".join(f"| {what} | {figure} |" for what, figure in rows))


if __name__ == "__main__":
    main()
