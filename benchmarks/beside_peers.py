"""Habilis among its peers: the same questions, model and limits, side by side in one run.

    python benchmarks/beside_peers.py --dataset FILE --base-url http://127.0.0.1:8080/v1 --peers-python PYTHON
        [--half tuning|held] [--limit N] [--seed S] [--level easy] [--evolve N | --library DIR] [--keep DIR]

Habilis is asked with an empty library, and with one that it evolved on questions over the tables of the other half
(--evolve, or --library for one that is there); no question changes either. Beside it stand smolagents' CodeAgent, a
LangGraph ReAct loop with a Python tool, and a deep agent, in an environment of their own. A peer that is not there is
named. Calls, tokens and seconds are counted by one proxy, which also holds all to the same temperature, tokens of a
reply and number of calls. `results.jsonl` in --keep grows by a line an answer; the same command goes on with it.

A claim is an answer that says of itself that it is one; it is wrong where the data set's own rule says so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from habilis.core.errors import UserError
from habilis.curation.ledger.reports import Row
from habilis.evaluation.datasets import load
from habilis.evaluation.scoring import score
from habilis.rules.phrases import UNDONE
from measure import machine
from peers.proxy import CountingProxy
from peers.systems import PEERS, Asked, missing, reaching, run_habilis, run_peer
from peers.tables import Results, table

COLD, EVOLVED = "habilis, cold", "habilis, evolved"
Way = Callable[[Asked], dict[str, Any]]


def half_of(row: Row) -> str:
    """The half of a question, told by its tables, so that no table is in both."""
    said = Path(row.files[0]).name if row.files else row.id
    return "tuning" if sha256(f"half: {said}".encode()).digest()[0] % 2 else "held"


def chosen(rows: Sequence[Row], half: str | None, level: str | None, seed: int, limit: int | None) -> list[Row]:
    """The rows of a half, those of one seed in one order."""
    fitting = [row for row in rows if half in (None, half_of(row)) and level in (None, row.extra.get("category"))]
    random.Random(seed).shuffle(fitting)
    return fitting[:limit]


def answered(way: Way, row: Row, folder: Path, proxy: CountingProxy, limits: dict[str, Any]) -> dict[str, Any]:
    """One question to one system, in a folder of its own with copies of its files; what came of it and what it took."""
    folder.mkdir(parents=True, exist_ok=True)
    files = tuple(Path(shutil.copy(path, folder)) for path in row.files)
    count, began = proxy.begin(limits["calls"]), time.monotonic()
    asked = Asked(row.question, files, folder, proxy.base_url, limits["model"], limits["seconds"], limits["calls"])
    try:
        found = way(asked)
    except subprocess.TimeoutExpired:
        found = {"status": "timed_out", "error": f"no end in {limits['seconds']} s"}
    seconds = time.monotonic() - began
    proxy.end()
    text = str(found.get("final_answer") or "")
    claimed = found.get("status") == "answered" and not UNDONE.search(text)
    right = claimed and asyncio.run(score(row, text, None)).right is True
    made, used = set(found.get("tools_made") or ()), set(found.get("tools_used") or ())
    told = {"status": found.get("status"), "answer": text, "error": str(found.get("error") or "")}
    told |= {
        "right": right,
        "wrong": claimed and not right,
        "seconds": round(seconds, 2),
        "level": row.extra.get("category"),
    }
    return {**told, "made": len(made), "reused": len(used - made), **count.figures()}


def evolved(
    rows: Sequence[Row], folder: Path, proxy: CountingProxy, limits: dict[str, Any], settings: Sequence[str]
) -> Path:
    """A library that Habilis evolves on `rows`; the one of an earlier run of this command where it is finished."""
    data, run = folder / "other-half", folder / "evolution" / "other-half"
    if not data.is_dir():
        _laid_out(rows, data)
    command = [sys.executable, "-m", "habilis", "evolve", "--output", str(run.parent), "--run-name", run.name]
    command += ["--resume"] if run.is_dir() else ["--dataset", str(data / "tasks.jsonl"), "--batch-size", "4"]
    command += ["--concurrency", "1", "--timeout", str(limits["seconds"]), "--quiet"]
    for one in (*reaching(proxy.base_url, limits["model"]), *settings):
        command += ["--set", one]
    count = proxy.begin(sys.maxsize)
    done = subprocess.run(command, check=False)
    proxy.end()
    print(f"evolved on {len(rows)} questions of the other half (exit code {done.returncode}): {count.figures()}")
    return run / "library"


def _laid_out(rows: Sequence[Row], folder: Path) -> None:
    """The data set of `rows` with their files, as a whole or not at all."""
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    with (made / "tasks.jsonl").open("w", encoding="utf-8") as stream:
        for number, row in enumerate(rows):
            (made / f"{number}").mkdir()
            files = [str(Path(shutil.copy(path, made / f"{number}")).relative_to(made)) for path in row.files]
            line = {"id": row.id, "question": row.question, "answer": row.answer, "files": files}
            stream.write(json.dumps(line) + "\n")
    made.rename(folder)


def ways(args: argparse.Namespace, library: Path | None) -> tuple[dict[str, Way], dict[str, str]]:
    """How each system is asked, and why the others are not."""
    found: dict[str, Way] = {COLD: lambda asked: run_habilis(asked, asked.folder / "library", args.settings)}
    absent: dict[str, str] = {}
    if library is not None and library.is_dir():
        found[EVOLVED] = lambda asked: run_habilis(asked, _copied(library, asked.folder), args.settings)
    else:
        absent[EVOLVED] = f"{library} is no library" if library else "give --evolve N or --library DIR"
    for name in PEERS:
        if why := missing(name, args.peers_python):
            absent[name] = why
        else:
            found[name] = lambda asked, name=name: run_peer(name, asked, args.peers_python)  # type: ignore[misc]
    wanted = args.only or [*found, *absent]
    return {n: way for n, way in found.items() if n in wanted}, {n: why for n, why in absent.items() if n in wanted}


def _copied(library: Path, folder: Path) -> Path:
    return Path(shutil.copytree(library, folder / "library", symlinks=True))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="questions, as habilis evolve reads them")
    parser.add_argument("--base-url", required=True, help="any server that speaks chat completions")
    parser.add_argument("--model", default="", help="its name there (default: the first that the server names)")
    parser.add_argument("--key-variable", default="OPENAI_API_KEY", help="environment variable of the server's key")
    parser.add_argument("--peers-python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--only", choices=[COLD, EVOLVED, *PEERS], action="append", help="ask these alone")
    parser.add_argument("--half", choices=["tuning", "held"], default="tuning")
    parser.add_argument("--level", help="questions of one level or category")
    parser.add_argument("--limit", type=int, help="so many questions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--evolve", type=int, help="evolve a library on so many questions of the other half first")
    parser.add_argument("--library", type=Path, help="a library that was evolved on them")
    parser.add_argument("--calls", type=int, default=25, help="model calls for a question (default 25)")
    parser.add_argument("--seconds", type=int, default=900, help="seconds for a question (default 900)")
    parser.add_argument("--reply-tokens", type=int, default=1536, help="tokens of a reply (default 1536)")
    parser.add_argument("--keep", type=Path, help="folder that keeps results, runs and the evolved library")
    parser.add_argument("--set", action="append", default=[], dest="settings", help="a setting of Habilis")
    return parser


def main(words: Sequence[str] | None = None) -> None:
    args = _parser().parse_args(words)
    try:
        rows = load(args.dataset)
    except UserError as error:
        raise SystemExit(str(error)) from None
    top = (args.keep or Path(tempfile.mkdtemp(prefix="habilis-peers-"))).resolve()
    top.mkdir(parents=True, exist_ok=True)
    asked = chosen(rows, args.half, args.level, args.seed, args.limit)
    with CountingProxy(
        args.base_url, key=os.environ.get(args.key_variable, ""), most_reply_tokens=args.reply_tokens
    ) as proxy:
        model = args.model or _first_model(proxy.base_url)
        limits = {"calls": args.calls, "seconds": args.seconds, "model": model}
        about = {"dataset": args.dataset, "half": args.half, "level": args.level, "seed": args.seed, **limits}
        results = Results(
            top / "results.jsonl", {**about, "reply_tokens": args.reply_tokens, "settings": args.settings}
        )
        library = args.library
        if args.evolve:
            other = "held" if args.half == "tuning" else "tuning"
            others = chosen(rows, other, args.level, args.seed, args.evolve)
            library = evolved(others, top, proxy, limits, args.settings)
        found, absent = ways(args, library)
        for name, why in absent.items():
            print(f"not asked: {name}: {why}", file=sys.stderr)
        for row in asked:
            for name, way in found.items():
                if not results.has(name, row.id):
                    folder = top / "answers" / name.replace(", ", "-") / f"{row.id}-{int(time.time())}"
                    results.add({"system": name, "task": row.id, **answered(way, row, folder, proxy, limits)})
                    _told(results.rows[-1])
    print(f"\n{len(asked)} questions of {args.dataset}, half {args.half}; model {model}; {machine()}\n")
    print(table(results.rows, [*found], absent))
    print(f"\nresults and runs in {top}")


def _told(row: dict[str, Any]) -> None:
    verdict = (
        "right" if row["right"] else "WRONG" if row["wrong"] else f"no claim ({row['status']} {row['error'][:80]})"
    )
    print(f"{row['task']:<12} {row['system']:<18} {verdict}  {row['calls']} calls, {row['seconds']:.0f} s", flush=True)


def _first_model(base_url: str) -> str:
    with urllib.request.urlopen(f"{base_url}/models", timeout=60) as said:
        return str(json.load(said)["data"][0]["id"])


if __name__ == "__main__":
    main()
