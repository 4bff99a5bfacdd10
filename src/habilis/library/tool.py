"""A tool of a library as the rest of the house sees it, and the manifest that stands beside its source."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from habilis.contract.aliases import Alias, untitled
from habilis.contract.capabilities import Capabilities
from habilis.contract.contract import Contract
from habilis.contract.examples import Example
from habilis.contract.likeness import code_digest
from habilis.contract.names import ToolName
from habilis.contract.runnable import Description, Runnable
from habilis.core.types import FORMAT, Effects, Frozen, JsonSchema, ToolCard, ToolSpec
from habilis.library.worth import worth
from habilis.messages.naming import provider_name
from habilis.rundir.plain import read_plain

How = Literal["built", "enhanced", "forked", "adopted", "merged", "revived"]


class Origin(Frozen):
    """Where a version of a tool comes from. `parents` are versions that it was made from (`name@identity`).

    `members` are those among them whose work a merge gave to it: where it fails, they are asked.

    `asked_name` is the name that was asked for; `our_suffix` says that `_v02` and the like were added by us.
    `shared_by` is the task that had built the tool when this one took it over, empty for others.
    """

    how: How = "built"
    parents: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    task: str = ""
    writer: str = ""
    model: str = ""
    asked_name: str = ""
    our_suffix: bool = False
    request_key: str = ""
    smoke: str = ""
    shared_by: str = ""


class Manifest(Frozen):
    """What stands in `<name>.json`. `digest` is the SHA-256 of the source that it describes.

    `answered` are questions that the tool helped to answer, the oldest first. `aliases` are names of tools that this
    one replaced, with the way from them to it; they keep working. `capabilities` are what the tool needs, each declared
    or inferred; `inspected`: its source was read for needs that it does not declare. `before` is the manifest that this
    one replaces, until the source is replaced as well: at every moment one of the two describes the source there.
    `likeness` is equal for tools of equal code (`contract.likeness`); older manifests have none.
    `nth` tells versions of one name and the very same source apart: a mend may restore an old text.
    `pinned`: a person said that it stays; the curator neither merges it into another nor retires it.
    `trusted_effects` stands in manifests of earlier versions alone, and nothing asks for it.
    """

    format: int = FORMAT
    name: str
    description: str
    digest: str
    likeness: str = ""
    input_schema: JsonSchema
    output_schema: JsonSchema
    requirements: tuple[str, ...] = ()
    effects: Effects = "reads"
    trusted_effects: Effects | None = Field(None, exclude=True)
    examples: tuple[Example, ...] = ()
    capabilities: Capabilities = Capabilities()
    inspected: bool = False
    timeout_s: float | None = None
    status: Literal["private", "candidate", "public", "merged", "retired", "quarantined"] = "private"
    origin: Origin = Origin()
    counters: dict[str, int] = Field(default_factory=dict)
    answered: tuple[str, ...] = ()
    reason: str | None = None
    aliases: dict[str, Alias] = Field(default_factory=dict)
    pinned: bool = False
    nth: int = 1
    before: Manifest | None = None

    @property
    def version(self) -> str:
        return self.digest[:16]

    @property
    def identity(self) -> str:
        """What descent goes by: the version, and its number where another of the same source came before."""
        return self.version if self.nth == 1 else f"{self.version}-{self.nth}"

    @property
    def request_key(self) -> str:
        return self.origin.request_key

    @classmethod
    def of(
        cls,
        source: str,
        description: Description,
        contract: Contract,
        *,
        name: str,
        origin: Origin,
        after: Tool | None = None,
        aliases: Mapping[str, Alias] = MappingProxyType({}),
    ) -> Manifest:
        """The manifest of a new version; `after` is the one that it takes the place of, whose old names it keeps."""
        before = after.manifest.model_copy(update={"before": None}) if after else None
        return cls(
            name=name,
            description=contract.description,
            digest=digest_of(source.encode("utf-8", "surrogatepass")),
            likeness=code_digest(source),
            input_schema=description.input_schema,
            output_schema=description.output_schema,
            requirements=contract.requirements,
            effects=contract.effects,
            examples=contract.examples,
            capabilities=contract.capabilities,
            inspected=True,
            timeout_s=contract.timeout_s,
            status=before.status if before else "private",
            origin=origin,
            aliases=before.aliases if before else dict(aliases),
            answered=before.answered if before else (),
            pinned=before.pinned if before else False,
            before=before,
        )


class Tool(Frozen):
    """One usable tool of a library. `name` is its file's; `layer` says which library of two holds it.

    A tool that was asked for by an old name bears that name, the old schemas and the `alias` that leads to the file's.
    """

    name: str
    path: Path
    manifest: Manifest
    layer: Literal["private", "public"] = "private"
    alias: Alias | None = None

    def known_as(self, name: str) -> Tool:
        """This tool under one of the old names in its manifest."""
        return self.model_copy(update={"name": name, "alias": self.manifest.aliases[name]})

    @property
    def called(self) -> ToolName:
        return ToolName(self.name, self.origin.our_suffix)

    @property
    def description(self) -> str:
        return self.alias.description if self.alias else self.manifest.description

    @property
    def version(self) -> str:
        """Digest of the source: 16 hexadecimal digits."""
        return self.manifest.version

    @property
    def label(self) -> str:
        """`name@identity`, as `Origin.parents` names it."""
        return f"{self.manifest.name}@{self.manifest.identity}"

    @property
    def input_schema(self) -> JsonSchema:
        return self.alias.input_schema if self.alias else self.manifest.input_schema

    @property
    def output_schema(self) -> JsonSchema:
        return self.alias.output_schema if self.alias else self.manifest.output_schema

    @property
    def requirements(self) -> tuple[str, ...]:
        return self.manifest.requirements

    @property
    def effects(self) -> Effects:
        return self.manifest.effects

    @property
    def timeout_s(self) -> float | None:
        """Seconds that one call may take, where the tool sets its own limit."""
        return self.manifest.timeout_s

    @property
    def origin(self) -> Origin:
        return self.manifest.origin

    @property
    def counters(self) -> dict[str, int]:
        """Recorded calls of this version (`calls`, `success`, `failure`, `input_error`), `tasks` that ended well with
        it, and how often a plan was shown it before anybody called it (`offered`)."""
        return self.manifest.counters

    @property
    def spec(self) -> ToolSpec:
        """What a model sees of it; `Library.get` knows the tool by this name too."""
        return ToolSpec(name=self.spec_name, description=self.description, parameters=untitled(self.input_schema))

    @property
    def spec_name(self) -> str:
        """The name by which models know it."""
        return provider_name(self.name)

    @property
    def card(self) -> ToolCard:
        return card_of(
            self.name, self.description, self.input_schema, answered=self.manifest.answered, worth=worth(self.counters)
        )

    @property
    def runnable(self) -> Runnable:
        """What the host needs to run it."""
        return Runnable(self.name, self.path, self.requirements, self.alias)

    def source(self) -> str:
        """The source as it lies on disk. Raises OSError."""
        return read_plain(self.path).decode("utf-8")


def card_of(
    name: str, description: str, schema: JsonSchema, *, answered: tuple[str, ...] = (), worth: float = 0.0
) -> ToolCard:
    """The card of a tool whose arguments have this schema."""
    properties, required = schema.get("properties"), schema.get("required")
    fields = properties if isinstance(properties, dict) else {}
    needed = required if isinstance(required, list) else []
    said = [field if isinstance(field, dict) else {} for field in fields.values()]
    texts = (field.get("description") for field in said)
    kinds = (field.get("type", "any") if key in needed else "" for key, field in zip(fields, said, strict=True))
    return ToolCard(
        name=name,
        description=description,
        parameters=tuple(fields),
        explained=tuple(text for text in texts if isinstance(text, str)),
        answered=answered,
        types=tuple(kind if isinstance(kind, str) else "any" for kind in kinds),
        worth=worth,
    )


def digest_of(source: bytes) -> str:
    """The digest that identifies a source."""
    return hashlib.sha256(source).hexdigest()
