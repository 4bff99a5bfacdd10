"""Which of the tools that are out of use is meant by a name, and with what evidence it comes back."""

from __future__ import annotations

from dataclasses import dataclass

from habilis.contract.names import RESERVED, is_plain, safe_name
from habilis.contract.records import RecordedCall, RecordStore
from habilis.core.errors import UserError
from habilis.curation.manual.change import unknown
from habilis.library import Library, Tool
from habilis.library.catalogue import Catalogue
from habilis.library.drafting import Place
from habilis.library.outofuse import PLACES, SetAside, listed, set_aside


@dataclass(frozen=True)
class Back:
    """A tool on its way back under `name`. `heir` is the tool that this is an old name of; empty when none is."""

    tool: Tool
    place: Place
    name: str
    records: tuple[RecordedCall, ...]
    heir: str = ""


def revivable(library: Library, catalogue: Catalogue, said: str, under: str) -> Back:
    """The tool out of use that `said` (`name` or `name@version`) means. Raises `UserError` for none, or for several."""
    found = _meant(library, catalogue, said)
    name = under or found.tool.name
    if not is_plain(name) or name != safe_name(name) or name in RESERVED:
        raise UserError(f"{name} cannot be a tool's name; letters, digits and underscores can")
    heir = next((one.name for one in catalogue.tools.values() if name in one.aliases), "")
    if name in catalogue.tools:
        raise UserError(f"a tool {name} is in use; revive this one under another name with --as NAME")
    if heir and name != found.tool.name:
        raise UserError(f"{name} is an old name of {heir}; choose another one")
    records = {record.call_id: record for record in _calls(library, found.tool, heir)}
    records |= {record.call_id: record for record in found.records()}
    return Back(found.tool, found.place, name, tuple(records.values()), heir)


def _meant(library: Library, catalogue: Catalogue, said: str) -> SetAside:
    name, _, version = said.partition("@")
    used = catalogue.tools[name].version if name in catalogue.tools else ""
    there = [one for one in set_aside(library.path, name) if one.tool.version.startswith(version)]
    found = [one for one in there if one.tool.version != used]
    if not found and used and (there or not version):
        raise UserError(f"{said} is in use")
    if not found:
        raise UserError(f"no tool {said} is out of use; {unknown(name, catalogue).rpartition('; ')[2]}")
    first = next(place for place in PLACES if any(one.place == place for one in found))
    best = {one.tool.version: one for one in found if version or one.place == first}
    if len(best) > 1:
        labels = ", ".join(f"{one.label} ({one.reason})" for one in best.values())
        raise UserError(f"several tools {name} are out of use; say which: {labels}")
    return next(iter(best.values()))


def _calls(library: Library, tool: Tool, heir: str) -> list[RecordedCall]:
    """Calls of `tool` wherever they are filed: under its name while that is an old one, its very own among those of the
    tool that does its work, and in the archive where that one went out of use itself."""
    store = RecordStore(library.path / "archive")
    archived = [stem for stem in listed(library.path / "archive", ".jsonl") if stem.rpartition(".")[0] == tool.name]
    found = [record for stem in archived for record in store.read(stem)]
    if not heir:
        return found
    own = [record for record in library.records(heir) if record.version == tool.version]
    return [*found, *library.records(tool.name), *own]
