"""How often a model's answers are right, wrongly claimed, or honestly given up, with four libraries.

    python benchmarks/claims.py --base-url http://127.0.0.1:8080/v1 [--library empty] [--half tuning|held]
        [--skip N] [--first N]

Forty small questions (`claim_cases/data.py`), each one `habilis run` in a process of its own with a fresh copy of the
library, from which nothing is carried over. A wrong claim is an `answered` that is not right; where the files do not
hold the answer, every `answered` is wrong. Slow on purpose: one after another. `--beside smolagents` asks its CodeAgent
the same questions with the same model, by an interpreter that has that package (`--peers-python`).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from claim_cases.data import Question, lay_out, questions
from claim_cases.libraries import LIBRARIES, make
from peers.systems import PEERS, Asked, missing, run_habilis, run_peer

LIMIT_S, PEER_STEPS = 900, 6
SETTINGS = (
    "models.basic.token_limit=6000",
    "models.basic.temperature=0",
    "models.basic.timeout_s=600",
    "models.basic.max_retries=1",
    "limits.max_attempts=2",
    "limits.max_rounds=4",
    "tools.packages=none",
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)


def right(expected: str, answer: str) -> bool:
    """Whether `answer` says `expected`: each number of it last or alone among the numbers, each word somewhere."""
    answer = re.sub(r"(?<=\d),(?=\d{3}\b)", "", answer)
    wanted = _NUMBER.findall(expected)
    if not wanted or not re.fullmatch(r"[-\d., e+]+", expected):
        return all(part.casefold() in answer.casefold() for part in re.split(r",\s*", expected))
    given = [float(number) for number in _NUMBER.findall(answer)]
    tail = given[-len(wanted) :]
    return len(tail) == len(wanted) and all(
        abs(a - float(b)) <= 1e-4 * abs(float(b)) for a, b in zip(tail, wanted, strict=True)
    )


def habilis(asked: Asked, settings: Sequence[str]) -> dict[str, Any]:
    """The result of one `habilis run`, as `--json` gives it."""
    return run_habilis(asked, asked.folder / "library", [*SETTINGS, *settings])


def ask(
    way: Callable[[Asked], dict[str, Any]], question: Question, folder: Path, kind: str, base_url: str
) -> dict[str, Any]:
    """One question, in a folder of its own; with the seconds it took and whether the answer is right."""
    lay_out(folder)
    make(kind, folder / "library")
    files = tuple(folder / name for name in question.files)
    start = time.monotonic()
    try:
        found = way(Asked(question.text, files, folder, base_url, limit_s=LIMIT_S, steps=PEER_STEPS))
    except subprocess.TimeoutExpired:
        found = {"status": "timed_out", "error": f"no end in {LIMIT_S} s"}
    answer = str(found.get("final_answer") or "")
    claimed = found.get("status") == "answered"
    good = claimed and question.answer is not None and right(question.answer, answer)
    return {**found, "wall_s": time.monotonic() - start, "right": good, "wrong": claimed and not good}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--library", choices=LIBRARIES, action="append")
    parser.add_argument("--half", choices=["tuning", "held"])
    parser.add_argument("--skip", type=int, default=0, help="leave out so many questions at the front")
    parser.add_argument("--first", type=int, help="only so many questions")
    parser.add_argument("--beside", choices=PEERS, help="ask a peer too (README.md says how to install it)")
    parser.add_argument("--peers-python", default=sys.executable, help="interpreter that has the peer")
    parser.add_argument("--keep", type=Path, help="folder that keeps the runs")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    args = parser.parse_args()
    top = args.keep or Path(tempfile.mkdtemp(prefix="habilis-claims-"))
    asked = [q for q in questions() if args.half is None or q.held == (args.half == "held")]
    asked = asked[args.skip :][: args.first]
    ways: list[tuple[str, Callable[[Asked], dict[str, Any]]]] = [("habilis", lambda one: habilis(one, args.settings))]
    if args.beside:
        if why := missing(args.beside, args.peers_python):
            parser.error(f"--beside {args.beside}: {why}")
        ways.append((args.beside, lambda one: run_peer(args.beside, one, args.peers_python)))
    print("| who | library | question | answer | verdict | status | calls | s |\n|---|---|---|---|---|---|---|---|")
    totals: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for kind in args.library or LIBRARIES:
        for number, question in enumerate(asked):
            for who, way in ways if kind == LIBRARIES[0] else ways[:1]:
                folder = top / f"{number}"  # the same for each library, so that requests differ in what it changes
                found = ask(way, question, folder, kind, args.base_url)
                folder.rename(top / f"{who}-{kind.replace(' ', '-')}-{number}-{int(time.time())}")
                totals.setdefault((who, kind), []).append(found)
                verdict = "right" if found["right"] else "WRONG" if found["wrong"] else "no claim"
                said = f"{found.get('status')} {found.get('error') or ''}"[:80]
                calls = (found.get("usage") or {}).get("model_calls", "")
                answer = str(found.get("final_answer") or "")[:50]
                cells = [who, kind, question.text[:60], answer, verdict, said, str(calls), f"{found['wall_s']:.0f}"]
                print(f"| {' | '.join(' '.join(cell.split()).replace('|', '/') for cell in cells)} |", flush=True)
    for (who, kind), rows in totals.items():
        calls = [(row.get("usage") or {}).get("model_calls", 0) for row in rows]
        print(
            f"{who}, {kind}: right {sum(r['right'] for r in rows)}, wrong claims {sum(r['wrong'] for r in rows)},"
            f" no claim {sum(not r['right'] and not r['wrong'] for r in rows)} of {len(rows)};"
            f" in the median {median(calls):g} calls, {median(row['wall_s'] for row in rows):.0f} s"
        )
    print(f"runs in {top}")


if __name__ == "__main__":
    main()
