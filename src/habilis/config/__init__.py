"""Settings: every value Habilis can be told, and where each came from.

Each setting stands once, as a field with its default and its meaning, in the file of its subject; `resolving.py` says
which value counts; `variables.py` is the only reader of the environment.
"""

from habilis.config.evolution import EvolutionSettings
from habilis.config.files import shipped
from habilis.config.hiding import masked
from habilis.config.keys import REMOVED, all_keys
from habilis.config.knowledge import KnowledgeSettings, WebSearchSettings, WebSettings
from habilis.config.limits import LimitsSettings, MemorySettings
from habilis.config.models import (
    BASIC_DEFAULTS,
    OFFLINE_NOTICE,
    ROLES,
    LocalSettings,
    ModelsSettings,
    PriceSettings,
    RoleSettings,
)
from habilis.config.resolving import Loaded, Override, load_settings, load_with_origins
from habilis.config.sandbox import CapabilitiesSettings, SandboxSettings
from habilis.config.secrets import key, tell_auth, tell_granted, users_of
from habilis.config.settings import Settings
from habilis.config.sources import AuthSettings, McpSettings, SourceSettings
from habilis.config.telemetry import AlertsSettings, TelemetrySettings
from habilis.config.tools import ExchangeSettings, RetrievalSettings, ToolsSettings, WriterSettings
from habilis.config.variables import (
    cache_dir,
    data_dir,
    environment,
    harmless_environment,
    hub_address,
    names_certificates,
    otlp_endpoint,
    proxy_for,
    secret,
    unattended,
)

__all__ = [
    "BASIC_DEFAULTS",
    "OFFLINE_NOTICE",
    "REMOVED",
    "ROLES",
    "AlertsSettings",
    "AuthSettings",
    "CapabilitiesSettings",
    "EvolutionSettings",
    "ExchangeSettings",
    "KnowledgeSettings",
    "LimitsSettings",
    "Loaded",
    "LocalSettings",
    "McpSettings",
    "MemorySettings",
    "ModelsSettings",
    "Override",
    "PriceSettings",
    "RetrievalSettings",
    "RoleSettings",
    "SandboxSettings",
    "Settings",
    "SourceSettings",
    "TelemetrySettings",
    "ToolsSettings",
    "WebSearchSettings",
    "WebSettings",
    "WriterSettings",
    "all_keys",
    "cache_dir",
    "data_dir",
    "environment",
    "harmless_environment",
    "hub_address",
    "key",
    "load_settings",
    "load_with_origins",
    "masked",
    "names_certificates",
    "otlp_endpoint",
    "proxy_for",
    "secret",
    "shipped",
    "tell_auth",
    "tell_granted",
    "unattended",
    "users_of",
]
