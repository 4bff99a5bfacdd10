"""`habilis run --decide`: one step of a conversation, for a program that runs the calls itself."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from habilis.config import Loaded
from habilis.core.errors import UserError
from habilis.core.types import Decision
from habilis.terminal.choices import is_functions
from habilis.terminal.outcome import EXIT_CODES


def decide(args: Namespace, loaded: Loaded, question: str | None, make_team: Callable[..., Any]) -> int:
    """One decision as a JSON document on standard output; without a question the conversation of --run-dir goes on.

    Returns the exit code. Raises `UserError`.
    """
    if args.replay or args.schema:
        raise UserError("--decide works with neither --replay nor --schema: it gives no final answer")
    given = args.tools is not None and is_functions(args.tools)
    if args.tools is not None and not given and question is None:
        raise UserError("--tools NAMES belongs to the first step: the conversation keeps the tools that it began with")
    tools = _read(args.tools if given else None, "--tools", list) or []
    results = _read(args.results, "--results", dict) or {}
    library = Path(args.library).absolute() if args.library else None
    team = make_team(loaded.settings, library=library)
    run_dir = Path(args.run_dir) if args.run_dir else None
    trusted = {"trust": True} if args.trust else {}
    decision: Decision = asyncio.run(
        team.decide(question, tools=tools, results=results, files=args.file, run_dir=run_dir, **trusted)
    )
    print(decision.model_dump_json(indent=2))
    if decision.error and not args.quiet:
        print(f"habilis: {decision.status}: {decision.error}", file=sys.stderr)
    if decision.status == "calls" or decision.status == "unanswered":
        return 0 if decision.status == "calls" else 1
    return EXIT_CODES[decision.status]


def _read(name: str | None, option: str, kind: type) -> Any:
    """The JSON in a file, or on standard input for `-`. Raises `UserError` that names the option."""
    if name is None:
        return None
    try:
        value = json.loads(sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"{option} {name}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{option} {name} is not JSON: {' '.join(str(error).split())}") from None
    if not isinstance(value, kind):
        wanted = "a list of function schemas" if kind is list else "an object of results by call id"
        raise UserError(f"{option} {name}: expected {wanted}")
    return value
