"""What fraction of simple tasks a small model solves as the only model: every role, tools to write included.

    python benchmarks/small_model.py --base-url http://127.0.0.1:8080/v1     # a server that is there
    python benchmarks/small_model.py --model /path/to/model.gguf             # served by Habilis itself

Each task is one `habilis run` in a process and a library of its own. Slow on purpose: one after another.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 1800


@dataclass(frozen=True)
class Simple:
    """One question with its files and the number or word that a right answer holds."""

    name: str
    question: str
    answer: str
    files: dict[str, str]


TASKS = (
    Simple(
        "average",
        "What is the average of the column height_cm in plants.csv?",
        "42.5",
        {"plants.csv": "name,height_cm,pots\nfern,30,2\npalm,85,1\nmint,20,6\naloe,35,3\n"},
    ),
    Simple(
        "words",
        "How many words does the file note.txt have?",
        "18",
        {"note.txt": "The boat leaves at six.\nBring bread, two lamps and the old map.\n\nWe meet at pier four.\n"},
    ),
    Simple("unit", "How many kilometres are 26.2 miles? One mile is 1.609344 km. Round to two decimals.", "42.16", {}),
    Simple(
        "sum",
        "What is the sum of all amounts in orders.json?",
        "258.5",
        {"orders.json": json.dumps([{"id": n, "amount": a} for n, a in enumerate([19.5, 120, 7.25, 111.75])])},
    ),
    Simple("days", "How many days are there from 2023-11-05 to 2024-03-17?", "133", {}),
    Simple(
        "longest",
        "Which city in cities.csv has the highest population?",
        "Osaka",
        {"cities.csv": "city,population\nLima,10092000\nOsaka,19013000\nBern,134800\nPune,7184000\n"},
    ),
)
SETTINGS = (
    "models.basic.max_tokens=1536",
    "models.basic.token_limit=6000",
    "models.basic.temperature=0",
    "models.basic.timeout_s=900",
    "models.basic.max_retries=1",
    "limits.max_attempts=2",
    "limits.max_rounds=4",
    "tools.packages=none",
)


def right(expected: str, answer: str) -> bool:
    """Whether `answer` holds the expected number or word, and no other number in place of it."""
    if not re.fullmatch(r"[\d.]+", expected):
        return expected.lower() in answer.lower()
    numbers = re.findall(r"-?\d+(?:\.\d+)?", answer.replace(",", ""))
    return any(abs(float(number) - float(expected)) < 1e-6 for number in numbers[-1:])


def solve(task: Simple, folder: Path, settings: list[str], config: list[str]) -> dict[str, Any]:
    """One task, run as a user would; its result as `habilis run --json` gives it, with the seconds that it took."""
    folder.mkdir(parents=True)
    for name, text in task.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "habilis",
        "run",
        task.question,
        "--json",
        "--output",
        str(folder / "runs"),
        *config,
    ]
    command += [part for name in task.files for part in ("--file", name)]
    command += [part for one in (*SETTINGS, *settings) for part in ("--set", one)]
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        result: dict[str, Any] = json.loads(done.stdout) if done.stdout.strip() else {"error": done.stderr[-300:]}
        (folder / "stderr.txt").write_text(done.stderr, encoding="utf-8")
    except subprocess.TimeoutExpired:
        result = {"status": "timed_out", "error": f"no end in {LIMIT_S} s"}
    return {**result, "wall_s": time.monotonic() - start}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--base-url")
    where.add_argument("--model", help="a GGUF file")
    parser.add_argument("--only", choices=[task.name for task in TASKS], action="append")
    parser.add_argument("--keep", type=Path, help="folder that keeps the runs")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    args = parser.parse_args()
    folder = args.keep or Path(tempfile.mkdtemp(prefix="habilis-small-"))
    if args.base_url:
        config, settings = [], [f"models.basic.base_url={args.base_url}", "models.basic.provider=openai"]
    else:
        config, settings = ["-c", "local"], [f"models.basic.model={args.model}", "models.local.threads=1"]
    solved = answered = 0
    tasks = [task for task in TASKS if not args.only or task.name in args.only]
    print(
        "| task | answer | right | status | tools run | tokens out | s |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    for task in tasks:
        found = solve(task, folder / f"{task.name}-{int(time.time())}", settings + args.settings, config)
        answer = str(found.get("final_answer") or "")
        fits = right(task.answer, answer)
        solved += fits
        answered += found.get("status") == "answered"
        ran = ", ".join(found.get("tools_used") or ()) or "none"
        tokens = (found.get("usage") or {}).get("completion_tokens", 0)
        status = f"{found.get('status', 'failed')} {found.get('error') or ''}".strip()
        cells = [
            task.name,
            answer[:60],
            "yes" if fits else "no",
            status[:90],
            ran,
            str(tokens),
            f"{found['wall_s']:.0f}",
        ]
        print(f"| {' | '.join(' '.join(cell.split()).replace('|', '/') for cell in cells)} |", flush=True)
    print(f"\nright: {solved} of {len(tasks)}, reviewed and accepted: {answered}; runs in {folder}")


if __name__ == "__main__":
    main()
