"""A tool file on its way in: the name that it asks for, the manifest that it gets, and the account of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from habilis.contract.aliases import Alias
from habilis.contract.contract import ContractError, read_contract
from habilis.contract.names import is_plain, safe_name
from habilis.contract.records import RecordedCall
from habilis.core.errors import HabilisError
from habilis.exchange.reports import ImportLine
from habilis.exchange.surveying import ImportCandidate
from habilis.library import Manifest, Origin, Tool
from habilis.library.catalogue import tool_files
from habilis.library.tool import digest_of
from habilis.synthesis.gate import Passed

MAX_NAME, REFUSED_CHARS = 150, 300


class ImportNotConserved(HabilisError):
    """An import's account does not agree with what its draft holds. Nothing is published."""


@dataclass(frozen=True)
class Tried:
    """A tool file after its trial: `passed`, or the reason why not. `tool` is it in a folder of its own, `proven` are
    its calls, by the name they had, `proofs` how many of them gave the same here."""

    found: ImportCandidate
    reason: str = ""
    passed: Passed | None = None
    tool: Tool | None = None
    proven: dict[str, tuple[RecordedCall, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    proofs: int = 0


def another_name(found: ImportCandidate, passed: Passed) -> tuple[str, ...]:
    """A note where a file is called otherwise than what it says in its meta data: the file's name is the one that
    counts."""
    said = passed.contract.name
    if found.manifest is not None or said in ("", found.name, file_name(found)):
        return ()
    return (f"it calls itself {said}; the name of the file counts",)


def file_name(found: ImportCandidate) -> str:
    """The name that a file asks for: its own, else what it says in its meta data, made safe."""
    kept_before = found.manifest is not None and is_plain(found.name) and len(found.name) <= MAX_NAME
    if safe_name(found.name) == found.name or kept_before:
        return found.name
    try:
        return safe_name(read_contract(found.source.decode("utf-8")).name)
    except (ContractError, UnicodeDecodeError):
        return safe_name(found.name)


def manifest_of(found: ImportCandidate, passed: Passed, name: str) -> Manifest:
    """The manifest of an imported tool: what it is and needs by our own reading, where it comes from by theirs."""
    theirs = found.manifest
    suffixed = name != file_name(found)
    origin = theirs.origin if theirs is not None else Origin(how="adopted", asked_name=found.name)
    origin = origin.model_copy(
        update={"our_suffix": origin.our_suffix or suffixed, "request_key": "", "smoke": passed.smoke}
    )
    made = Manifest.of(
        passed.source,
        passed.description,
        passed.contract,
        name=name,
        origin=origin,
        aliases=theirs.aliases if theirs is not None else {},
    )
    answered = tuple(text[:300] for text in theirs.answered[-8:]) if theirs is not None else ()
    return made.model_copy(update={"status": "public", "answered": answered})


def leads_nowhere(alias: Alias, passed: Passed) -> bool:
    return bool(alias.problem(passed.description.input_schema, passed.description.output_schema))


def failures(failed: int, tried: int) -> tuple[str, ...]:
    return (f"{failed} of {tried} recorded calls give something else here and stay behind",) if failed else ()


def short(reason: str) -> str:
    """A reason as one line, cut."""
    line = " ".join(reason.split())
    return line if len(line) <= REFUSED_CHARS else f"{line[:REFUSED_CHARS].rstrip()} …"


def fate_of(line: ImportLine) -> dict[str, Any]:
    ending = {"imported": "kept", "kept": "kept", "same": "merged", "refused": "refused", "left": "refused"}[
        line.ending
    ]
    return {"tool": line.source, "ending": ending, "into": line.name or None, "reason": line.reason}


def check_conserved(draft: Path, before: dict[str, str], new: dict[str, Tried]) -> None:
    """Raises `ImportNotConserved` unless the draft holds the tools of before, unchanged, the new ones, no more."""
    wanted = before | {name: tried.found.digest for name, tried in new.items()}
    there = set(tool_files(draft))
    if there != wanted.keys():
        raise ImportNotConserved(
            f"the draft does not hold what the import says: {', '.join(sorted(there ^ set(wanted))[:5])}"
        )
    for name, digest in wanted.items():
        if digest_of((draft / f"{name}.py").read_bytes()) != digest:
            raise ImportNotConserved(f"tool {name} of the draft is not the file that went in")
