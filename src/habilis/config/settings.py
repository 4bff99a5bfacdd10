"""All settings as one."""

from __future__ import annotations

import re
from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from habilis.config.evolution import EvolutionSettings
from habilis.config.knowledge import KnowledgeSettings, WebSettings
from habilis.config.limits import LimitsSettings, MemorySettings
from habilis.config.models import ModelsSettings
from habilis.config.sandbox import CapabilitiesSettings, SandboxSettings
from habilis.config.secrets import tell_masker
from habilis.config.sources import SourceSettings
from habilis.config.telemetry import AlertsSettings, TelemetrySettings
from habilis.config.tools import ExchangeSettings, RetrievalSettings, ToolsSettings, WriterSettings
from habilis.core.types import Frozen


class Settings(Frozen):
    """All settings. Build them with `load_settings`; every default stands in its field."""

    models: ModelsSettings = ModelsSettings()
    limits: LimitsSettings = LimitsSettings()
    sandbox: SandboxSettings = SandboxSettings()
    capabilities: CapabilitiesSettings = CapabilitiesSettings()
    tools: ToolsSettings = ToolsSettings()
    writer: WriterSettings = WriterSettings()
    memory: MemorySettings = MemorySettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    web: WebSettings = WebSettings()
    evolution: EvolutionSettings = EvolutionSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    alerts: AlertsSettings = AlertsSettings()
    sources: dict[str, SourceSettings] = Field(
        default_factory=dict, description="tools of other programs, by a name of your choice: openapi or mcp, with auth"
    )
    tool_sets: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="named selections of sources: source, or source.tool (* matches any text)"
    )
    exchange: ExchangeSettings = ExchangeSettings()
    prompts_dir: str | None = Field(
        None, description="folder of prompt files that replace the built-in ones of the same name"
    )
    runs_dir: str = Field("runs", description="folder for runs")
    store: str | None = Field(
        None,
        description="where a training run is kept in addition to its folder: postgresql://host/database (extra "
        "postgres; password in PGPASSWORD), or file:///folder",
    )

    def model_post_init(self, _: Any) -> None:
        """No settings without their secrets being known to the masker."""
        tell_masker(self)

    @field_validator("store")
    @classmethod
    def _is_a_store(cls, store: str | None) -> str | None:
        if store and not store.startswith(("postgresql://", "postgres://", "file:///")):
            raise ValueError(
                "it is not the address of a store; for example postgresql://host/database, or file:///folder"
            )
        if store and re.search(r"(?i)[?&]password=", store):
            raise ValueError("it holds a password; take that out and put it into PGPASSWORD")
        return store or None

    @field_validator("sources", "tool_sets")
    @classmethod
    def _plain_names(cls, named: dict[str, Any]) -> dict[str, Any]:
        for name in named:
            if not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_-]{0,31}", name):
                raise ValueError(f"the name {name[:40]!r} must be a letter and up to 31 letters, digits, _ or -")
        return named

    @field_validator("tool_sets")
    @classmethod
    def _names_apart(cls, sets: dict[str, Any], known: ValidationInfo) -> dict[str, Any]:
        if both := sorted(sets.keys() & known.data.get("sources", {}).keys()):
            raise ValueError(f"{both[0]} is the name of a source and of a tool set")
        return sets
