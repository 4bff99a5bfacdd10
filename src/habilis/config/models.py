"""Which model is asked in each role, and how; and how models of this machine are served."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import Field, PrivateAttr

from habilis.core.types import Frozen, Role
from habilis.core.usage import Money

ROLES: tuple[Role, ...] = get_args(Role)
OFFLINE_NOTICE = "offline demonstration model"


class Origins(dict[str, str]):
    """In which words a person gave each value. No part of what the settings are: any two are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origins)

    __hash__ = None


class RoleSettings(Frozen):
    """One model role. A field left out is taken from `models.basic`."""

    _origins: Origins = PrivateAttr(default_factory=Origins)
    provider: Literal["auto", "openai", "anthropic", "local", "offline"] | None = Field(
        None,
        description="openai: any compatible server; anthropic: its Messages API; local: a GGUF file that Habilis "
        "serves; offline: the built-in demonstration model; auto: openai if a key or URL is set, "
        "otherwise offline",
    )
    base_url: str | None = Field(None, description="address of the API; an OpenAI-compatible one ends in /v1")
    model: str | None = Field(
        None,
        description="model name; without one, the first of GET /models at base_url; for local: a GGUF file, or "
        "OWNER/REPO:FILE on a hub",
    )
    api_key_env: str | None = Field(
        None, description="name of the environment variable that holds the key (never the key itself)"
    )
    temperature: float | None = Field(None, ge=0, le=2, description="sampling temperature; unset: the server's default")
    token_limit: int | None = Field(
        None,
        ge=256,
        description="tokens that a request may hold, including its reply if max_tokens is set; unset: no limit",
    )
    max_tokens: int | None = Field(
        None,
        ge=1,
        description="tokens that any reply may hold, thinking included",
    )
    max_retries: int | None = Field(
        None, ge=0, le=20, description="retries after 408, 409, 429, 5xx and broken connections"
    )
    timeout_s: float | None = Field(
        None, gt=0, description="seconds that a server may be silent; limits.reply_seconds limits a whole reply"
    )
    verify_ssl: bool | None = Field(None, description="check the server's certificate")
    headers: dict[str, str] | None = Field(None, description="extra HTTP headers")
    options: dict[str, Any] | None = Field(None, description="extra fields of the request body, passed through")
    parallel_tool_calls: bool | None = Field(None, description="passed to the server when set")
    structured_mode: Literal["auto", "json_schema", "function_calling", "json_mode", "text"] | None = Field(
        None,
        description="how answers in a fixed form are requested; auto tries in this order and remembers what worked",
    )
    strategy: Literal["auto", "function_call", "react_text", "react_completion"] | None = Field(
        None,
        description="how the executor calls tools; auto: as functions, or as text if the model proves unable to; "
        "react_completion: as text, through a completion interface (/completions)",
    )
    stream: bool | None = Field(None, description="show the executor's replies as they arrive")
    images: Literal["none", "low", "high", "auto"] | None = Field(
        None,
        description="how closely the executor looks at the images in a question; none: it sees no images; unset: "
        "low, unless its server refuses images",
    )

    def said_in(self, field: str, role: str = "basic") -> str:
        """The variable, file or option in which `field` was set, else the name of the setting."""
        return self._origins.get(field) or f"models.{role}.{field}"


BASIC_DEFAULTS = RoleSettings(
    provider="auto",
    api_key_env="OPENAI_API_KEY",
    max_retries=3,
    timeout_s=120.0,
    verify_ssl=True,
    structured_mode="auto",
    strategy="auto",
    stream=False,
)
_ADDRESSED = ("base_url", "model", "api_key_env", "headers", "options")
"""What belongs to one provider and is never taken over by a role with another."""


class PriceSettings(Frozen):
    """What a million tokens of one model cost, in USD."""

    input: Money = Field(ge=0, description="of the prompt")
    output: Money = Field(ge=0, description="of replies")
    cached_input: Money | None = Field(None, ge=0, description="of the prompt, read from a cache; unset: as input")


class LocalSettings(Frozen):
    """How models of provider `local` are found and served."""

    context_tokens: int = Field(8192, ge=512, description="tokens of context, prompt and reply together")
    threads: int | None = Field(None, ge=1, description="processor threads; unset: one per core")
    gpu_layers: int | None = Field(
        None, ge=0, description="layers computed on a GPU; unset: as many as fit, if the package was built for one"
    )
    download: bool = Field(False, description="download a model from a hub, once, if it is not on this machine")


class ModelsSettings(Frozen):
    """Models by role; each role falls back to `basic`, field by field."""

    basic: RoleSettings = BASIC_DEFAULTS
    builder: RoleSettings = RoleSettings()
    vision: RoleSettings = RoleSettings()
    summarise: RoleSettings = RoleSettings()
    cluster: RoleSettings = RoleSettings()
    judge: RoleSettings = RoleSettings()
    eval: RoleSettings = RoleSettings()
    local: LocalSettings = LocalSettings()
    prices: dict[str, PriceSettings] = Field(
        default_factory=dict,
        description="USD per million tokens, by model name: {input: 2.5, output: 10, cached_input: 1.25}; overrides "
        "the table of the extra prices",
    )
    probe_judges: bool = Field(
        True,
        description="test a model once on planted cases before its verdict as a judge counts; false: trust it untested",
    )

    _origins: Origins = PrivateAttr(default_factory=Origins)

    def remember_origins(self, origins: Mapping[str, str]) -> None:
        """Take in where values came from, by dotted key, in the words of `Loaded.origins`."""
        self._origins.update({key: origin for key, origin in origins.items() if key.startswith("models.")})

    def role(self, role: Role) -> RoleSettings:
        """The settings in force for `role`: its own fields over those of `basic` over the defaults.

        A role with another provider than `basic` takes neither address nor model nor key from it.
        """
        basic, own = (layer.model_dump(exclude_none=True) for layer in (self.basic, getattr(self, role)))
        merged = BASIC_DEFAULTS.model_dump(exclude_none=True)
        if api_of(own.get("provider")) not in (None, api_of(basic.get("provider") or "auto")):
            basic = {name: value for name, value in basic.items() if name not in _ADDRESSED}
        merged |= basic | own
        if merged["provider"] == "anthropic" and "api_key_env" not in (basic | own):
            merged["api_key_env"] = "ANTHROPIC_API_KEY"
        made = RoleSettings(**merged)
        for name in merged:
            dotted = f"models.{role if name in own else 'basic'}.{name}"
            if name in own or name in basic:
                made._origins[name] = _told(dotted, self._origins.get(dotted, ""))
        return made


def _told(dotted: str, origin: str) -> str:
    """How a person would name the place where they set `dotted`."""
    kind, _, name = origin.partition(" ")
    if kind == "environment":
        return name
    if kind == "file":
        return f"{dotted} in {name}"
    return f"--set {dotted}" if kind == "command" else dotted


def api_of(provider: str | None) -> str | None:
    """Providers that share addresses and keys are one."""
    return "openai" if provider in ("auto", "offline") else provider
