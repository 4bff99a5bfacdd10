"""Settings: every value Habilis can be told, where each came from, and the only reader of the environment.

Order of precedence: command line (`--set`), then files (`-c`, later ones over earlier ones), then the
environment, then the default that stands in the field. An unknown key is an error that names it.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic.fields import FieldInfo

from habilis.core.errors import UserError
from habilis.core.types import Frozen, Role

ROLES: tuple[Role, ...] = get_args(Role)
ENV_PREFIX = "HABILIS_"
OFFLINE_NOTICE = "offline demonstration model"


class RoleSettings(Frozen):
    """One model role. A field left out is taken from `models.basic`."""

    provider: Literal["auto", "openai", "anthropic", "local", "offline"] | None = Field(
        None,
        description="openai: any compatible server; anthropic: its Messages API; local: a GGUF file, served by us; "
        "offline: the built-in demonstration model; auto: openai or offline, by key or URL",
    )
    base_url: str | None = Field(None, description="address of the API; an OpenAI-compatible one ends in /v1")
    model: str | None = Field(
        None,
        description="model name; with a base_url and no name the first of GET /models is taken; for local: a GGUF "
        "file, or OWNER/REPO:FILE of a hub",
    )
    api_key_env: str | None = Field(
        None, description="name of the environment variable that holds the key (never the key itself)"
    )
    temperature: float | None = Field(None, ge=0, le=2, description="sampling temperature; unset: the server's default")
    token_limit: int | None = Field(
        None,
        ge=256,
        description="tokens that a request may hold, its reply too if max_tokens is set; unset: no limit",
    )
    max_tokens: int | None = Field(None, ge=1, description="tokens that a reply may hold; unset: the server's default")
    max_retries: int | None = Field(
        None, ge=0, le=20, description="further tries after 408, 409, 429, 5xx and broken connections"
    )
    timeout_s: float | None = Field(None, gt=0, description="seconds that one request may take")
    verify_ssl: bool | None = Field(None, description="check the server's certificate")
    headers: dict[str, str] | None = Field(None, description="extra HTTP headers")
    options: dict[str, Any] | None = Field(None, description="extra fields of the request body, passed through")
    parallel_tool_calls: bool | None = Field(None, description="passed to the server when set")
    structured_mode: Literal["auto", "json_schema", "function_calling", "json_mode", "text"] | None = Field(
        None,
        description="how answers in a fixed form are asked for; auto tries in this order and remembers what worked",
    )
    strategy: Literal["auto", "function_call", "react_text"] | None = Field(
        None, description="how the executor calls tools; auto: as functions, as text where the model proves unable to"
    )
    react_form: Literal["chat", "completion"] | None = Field(
        None, description="how react_text asks: a conversation, or one text to go on with (/completions)"
    )
    stream: bool | None = Field(None, description="show the executor's replies while they come")
    images: bool | None = Field(
        None, description="show the executor the images of a question; unset: unless its server refuses them"
    )
    image_detail: Literal["low", "high", "auto"] | None = Field(None, description="how closely it looks at them")


BASIC_DEFAULTS = RoleSettings(
    provider="auto",
    api_key_env="OPENAI_API_KEY",
    max_retries=3,
    timeout_s=120.0,
    verify_ssl=True,
    structured_mode="auto",
    strategy="auto",
    react_form="chat",
    stream=False,
    image_detail="low",
)


_ADDRESSED = ("base_url", "model", "api_key_env", "headers", "options")
"""What belongs to one provider and is never taken over by a role with another."""


class LocalSettings(Frozen):
    """How models of provider `local` are found and served."""

    context_tokens: int = Field(8192, ge=512, description="tokens of context, prompt and reply together")
    parallel: int = Field(1, ge=1, le=64, description="requests worked on at once; each has the whole context")
    threads: int | None = Field(None, ge=1, description="processor threads; unset: one per core")
    gpu_layers: int | None = Field(
        None, ge=0, description="layers computed by a GPU; unset: as many as fit, where the package was built for one"
    )
    start_timeout_s: float = Field(600.0, gt=0, description="seconds that a model may take to load")
    check_memory: bool = Field(True, description="refuse a model that needs more memory than is free")
    download: bool = Field(False, description="fetch a hub's model that is not on this machine yet, once")
    hub_url: str | None = Field(None, description="address of the hub; unset: the public one of Hugging Face")
    hub_token_env: str = Field(
        "HF_TOKEN", description="name of the environment variable that holds the token for models that ask for one"
    )


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

    def role(self, role: Role) -> RoleSettings:
        """The settings in force for `role`: its own fields over those of `basic` over the defaults.

        A role with another provider than `basic` takes neither address nor model nor key from it.
        """
        basic, own = (layer.model_dump(exclude_none=True) for layer in (self.basic, getattr(self, role)))
        merged = BASIC_DEFAULTS.model_dump(exclude_none=True)
        if _kind(own.get("provider")) not in (None, _kind(basic.get("provider") or "auto")):
            basic = {name: value for name, value in basic.items() if name not in _ADDRESSED}
        merged |= basic | own
        if merged["provider"] == "anthropic" and "api_key_env" not in (basic | own):
            merged["api_key_env"] = "ANTHROPIC_API_KEY"
        return RoleSettings(**merged)


def _kind(provider: str | None) -> str | None:
    """Providers that share addresses and keys are one."""
    return "openai" if provider in ("auto", "offline") else provider


class LimitsSettings(Frozen):
    """Budgets and limits of one task."""

    max_rounds: int = Field(10, ge=-1, le=99, description="tool rounds of one execution; -1: no limit")
    max_attempts: int = Field(
        5, ge=1, le=50, description="executions of one task before it ends with the best there is"
    )
    enhance_interval: int = Field(2, ge=1, description="rounds between two looks at failing tools")
    max_enhancements: int = Field(2, ge=0, description="enhancements of one tool in one task")
    max_empty_replies: int = Field(10, ge=1, description="empty replies of one execution before it ends")
    max_failed_rounds: int = Field(
        3, ge=1, description="rounds in a row in which every call failed before an execution ends"
    )
    repeat_warning: int = Field(2, ge=2, description="same call of the same tool: warned from this one on")
    repeat_stop: int = Field(4, ge=3, description="same call of the same tool: the execution ends at this one")
    correction_retries: int = Field(
        3, ge=0, description="corrections asked for when a reply's calls do not fit their schemas"
    )
    max_bound_tools: int = Field(20, ge=1, le=128, description="tools that the executor sees at once")
    max_result_tokens: int = Field(16_000, ge=100, description="tokens of a tool result that the model sees")
    max_tokens: int | None = Field(None, ge=1, description="tokens that a task may cost, prompt and completion")
    max_time_s: float | None = Field(None, gt=0, description="seconds that a task may take")


class SandboxSettings(Frozen):
    """How generated code is confined."""

    mode: Literal["required", "best-effort", "off"] = Field(
        "required", description="required: refuse when nothing strong enough works"
    )
    backend: Literal["auto", "bubblewrap", "landlock"] = Field(
        "auto", description="which back end to use; auto: the strongest whose probe passes"
    )
    tool_timeout_s: float = Field(120.0, gt=0, description="seconds that one tool call may take")
    cpu_s: int = Field(120, ge=1, description="processor seconds of one tool call")
    memory_mb: int = Field(1024, ge=64, description="memory of one tool call, MiB")
    file_mb: int = Field(256, ge=1, description="size of one file that a tool writes, MiB")
    open_files: int = Field(256, ge=16, description="open files of one tool call")
    processes: int = Field(64, ge=1, description="processes of one tool call")
    output_mb: int = Field(8, ge=1, description="size of a tool's output, MiB")
    env_allow: tuple[str, ...] = Field(
        (), description="names of environment variables that tools which ask for them may see"
    )
    warm: bool = Field(True, description="keep a process ready in a task's sandbox, from which each call is forked")
    warm_idle_s: float = Field(300.0, gt=0, description="seconds without a call after which it ends")


class CapabilitiesSettings(Frozen):
    """What tools may be given that ask for more than their task's files (variables: sandbox.env_allow)."""

    network: Literal["deny", "ask", "listed", "any"] = Field(
        "ask",
        description="hosts that tools may reach; ask: a person, nobody there means no; listed: network_list",
    )
    network_list: tuple[str, ...] = Field(
        (), description="hosts that need no asking: example.org, *.example.org, example.org:8443"
    )
    proxy: str | None = Field(
        None, description="your own proxy, through which granted hosts are reached: http://host:port"
    )
    inspect_https: bool = Field(
        False,
        description="look into the https of tools, so that such calls can be recorded and replayed (SECURITY.md)",
    )
    read: Literal["task_files", "listed"] = Field(
        "task_files", description="paths that tools may read; listed: those below the paths of read_list too"
    )
    read_list: tuple[str, ...] = Field((), description="absolute paths that tools which ask for them may read")
    subprocess: Literal["allow", "deny"] = Field(
        "allow", description="whether tools that start programs are run; such programs stand behind the same walls"
    )
    max_timeout_s: float = Field(3600.0, gt=0, description="seconds that a tool may ask for, for one call")
    max_memory_mb: int = Field(4096, ge=64, description="memory that a tool may ask for, for one call, MiB")
    constructs: Literal["warn", "refuse"] = Field(
        "refuse", description="what happens to a tool whose source holds what no tool should (SECURITY.md)"
    )
    effects: Literal["stronger", "trust"] = Field(
        "stronger", description="a declared effect counts if it is stronger than what the source shows; trust: always"
    )

    @field_validator("read_list")
    @classmethod
    def _absolute(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        for path in paths:
            if not Path(path).is_absolute():
                raise ValueError(f"{path!r} is no absolute path")
        return paths


class ToolsSettings(Frozen):
    """How tools are made and kept."""

    build_attempts: int = Field(3, ge=1, le=10, description="attempts to write one tool")
    enhance_attempts: int = Field(3, ge=1, le=10, description="attempts to mend one tool")
    synthesis: bool = Field(
        True, description="have missing tools written and failing ones mended; false: work with the tools there are"
    )
    on_build_failure: Literal["continue", "stop"] = Field(
        "continue", description="stop: end the task when a tool could not be built"
    )
    packages: Literal["any", "listed", "none"] = Field(
        "any", description="packages that tools may name as dependencies; listed: those of package_list"
    )
    package_list: tuple[str, ...] = Field((), description="names of packages; what they need themselves comes along")
    wheelhouse: str | None = Field(None, description="folder of wheels to take packages from; no index is asked then")
    summarise_results: bool = Field(
        True, description="let the summarise role extract from an over-long result before it is cut"
    )
    only_tool: bool = Field(
        False,
        description="take a call of an unknown tool for the only one bound, if its arguments fit and it writes not",
    )
    finish_task: bool = Field(False, description="offer finish_task; a plain answer stays the primary way to end")
    use: tuple[str, ...] | None = Field(
        None, description="names of sources and tool_sets that tasks work with; unset: all sources"
    )

    @field_validator("package_list")
    @classmethod
    def _normal_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Names in the normal form of PEP 503, sorted, each once."""
        for name in names:
            if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
                raise ValueError(f"{name!r} is not the name of a package; versions do not belong here")
        return tuple(sorted({re.sub(r"[-_.]+", "-", name).lower() for name in names}))


class AuthSettings(Frozen):
    """How a source is told who asks. Exactly one of `header`, `query` and `scheme`; without any, scheme bearer."""

    secret_env: str = Field(description="name of the environment variable that holds the secret (never the secret)")
    header: str | None = Field(None, description="header that carries the secret as it is")
    query: str | None = Field(None, description="parameter of the address that carries it")
    scheme: Literal["bearer", "basic"] | None = Field(
        None, description="bearer: Authorization with the secret as a token; basic: with the secret as user:password"
    )
    check: str | None = Field(None, description="path that is fetched when a task begins, to see that the secret works")

    @field_validator("secret_env")
    @classmethod
    def _a_name(cls, name: str) -> str:
        if not re.fullmatch(_VARIABLE, name):
            raise ValueError("this is no name of an environment variable; the secret itself does not belong here")
        return name

    @model_validator(mode="after")
    def _one_way(self) -> AuthSettings:
        if sum(way is not None for way in (self.header, self.query, self.scheme)) > 1:
            raise ValueError("give one of header, query and scheme")
        return self


_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]{0,60}"


class McpSettings(Frozen):
    """An MCP server: a program that is started for each task, or an address."""

    command: tuple[str, ...] = Field((), description="program and arguments; speaks MCP on its standard streams")
    url: str | None = Field(None, description="address of a server that speaks streamable HTTP")
    env: tuple[str, ...] = Field((), description="names of environment variables that the program is given")
    cwd: str | None = Field(None, description="folder that the program is started in")
    trust_hints: bool = Field(False, description="believe the server where it says that a tool only reads")

    @model_validator(mode="after")
    def _one_server(self) -> McpSettings:
        if bool(self.command) == (self.url is not None):
            raise ValueError("give either command or url")
        return self


class SourceSettings(Frozen):
    """Where tools come from that are no modules of the library. Exactly one kind: `openapi` or `mcp`."""

    openapi: str | None = Field(None, description="path or address of an OpenAPI document (JSON or YAML)")
    mcp: McpSettings | None = Field(None, description="an MCP server")
    base_url: str | None = Field(None, description="for openapi: where the operations are, in place of its servers")
    auth: AuthSettings | None = Field(None, description="what requests carry to say who asks")
    required: bool = Field(False, description="end with an error where this source gives no tools; else go on without")
    open_timeout_s: float = Field(30.0, gt=0, description="seconds that it may take to say which tools there are")
    timeout_s: float = Field(60.0, gt=0, description="seconds that one call may take")
    max_mb: int = Field(8, ge=1, le=256, description="size of one answer, MiB")

    @field_validator("openapi", "base_url")
    @classmethod
    def _without_user(cls, address: str | None) -> str | None:
        if address is not None and re.match(r"[a-zA-Z]+://[^/?#]*@", address):
            raise ValueError("the address holds a user's name; secrets belong into auth")
        return address

    @model_validator(mode="after")
    def _one_kind(self) -> SourceSettings:
        kinds = [name for name in SOURCE_KINDS if getattr(self, name) is not None]
        if len(kinds) != 1:
            raise ValueError(f"give exactly one of {', '.join(SOURCE_KINDS)}")
        if self.base_url is not None and self.openapi is None:
            raise ValueError("base_url belongs to openapi")
        return self


SOURCE_KINDS = ("openapi", "mcp")
"""Fields of a source that say what it is."""


class WriterSettings(Frozen):
    """Who writes tool code."""

    kind: Literal["model", "codex", "command"] = Field(
        "model", description="model: the builder role; codex: the Codex CLI; command: any program"
    )
    command: tuple[str, ...] = Field(
        (), description="for kind command: program and arguments; reads the prompt on stdin, prints code"
    )
    timeout_s: float = Field(1200.0, gt=0, description="seconds that an external writer may take")


class MemorySettings(Frozen):
    """What a request holds of what came before: earlier turns of a conversation, and the work on this question."""

    max_tokens: int = Field(
        4_000,
        ge=0,
        description="tokens of earlier turns that a request holds, the newest first; older ones are looked up",
    )
    max_work_tokens: int = Field(
        100_000, ge=1_000, description="tokens of the work on one question before it is folded into a summary"
    )


class RetrievalSettings(Frozen):
    """Which tools of the library a plan's prompt shows."""

    candidates: int = Field(20, ge=0, le=100, description="tools shown to the manager")
    vectors: str = Field(
        "",
        description="vectors beside words: wordllama (extra vectors), or a folder or package with weights (static "
        "ones, or a MiniLM); none if empty",
    )


class KnowledgeSettings(Frozen):
    """Documents of the user's own, in whose text tasks may search."""

    folders: tuple[str, ...] = Field(
        (), description="folders of text, Markdown, HTML and PDF that search_documents reads"
    )
    top_k: int = Field(5, ge=1, le=50, description="passages that one search gives at most")
    threshold: float = Field(
        0.15, ge=0, le=1, description="relevance below which nothing is given; 0.5: each word of the query once"
    )
    chunk_tokens: int = Field(300, ge=50, le=4_000, description="tokens of a passage, about")
    max_file_mb: int = Field(20, ge=1, le=1_000, description="size of a file that is read, MiB")


class WebSearchSettings(Frozen):
    """The service behind web_search."""

    service: Literal["tavily", "searxng"] | None = Field(
        None, description="tavily: by key; searxng: a server of your own; unset: no web_search"
    )
    url: str | None = Field(None, description="address of the service; needed for searxng: https://host[:port]")
    key_env: str = Field("TAVILY_API_KEY", description="name of the environment variable that holds Tavily's key")
    max_results: int = Field(5, ge=1, le=20, description="results that one search gives at most")


class WebSettings(Frozen):
    """Reading the web. What may be reached is for capabilities.network to say."""

    read_page: bool = Field(False, description="offer read_page, which gives the text of a page of a granted host")
    max_page_mb: int = Field(5, ge=1, le=100, description="size of a page that is read, unpacked, MiB")
    timeout_s: float = Field(30.0, gt=0, le=600, description="seconds that one page or search may take, all told")
    search: WebSearchSettings = WebSearchSettings()


class EvolutionSettings(Frozen):
    """How tools of many tasks become one library, step by step, and when to stop."""

    batch_size: int = Field(16, ge=1, le=10_000, description="tasks of one step; after each the library is published")
    concurrency: int = Field(8, ge=1, le=1_000, description="tasks that run side by side")
    task_timeout_s: float = Field(5400.0, gt=0, description="seconds that one task may take before it is ended")
    train_steps: int | None = Field(None, ge=1, description="steps to run; unset: the whole data set")
    merge_policy: Literal["best", "model", "naive"] = Field(
        "best",
        description="how tools that do the same become one; best: the one with the best record, model: the writer "
        "makes one of all, naive: the smallest file",
    )
    trial_calls: int = Field(
        6, ge=0, le=100, description="generated calls on which a tool is compared with each that it is to replace"
    )
    retire_calls: int = Field(10, ge=2, le=1_000, description="last calls of a tool by which it is judged")
    retire_below: float = Field(
        0.3, ge=0, le=1, description="share of these that must succeed; a tool below it is retired"
    )
    runner: Literal["local", "process"] = Field(
        "local", description="local: all tasks in one process; process: each task in a process of its own"
    )
    share_builds: bool = Field(
        True, description="tasks of one step that ask for the same tool wait for one build, and share it"
    )
    task_memory_mb: int | None = Field(
        None, ge=128, description="memory of one task with all its processes, MiB (PSS; runner process, Linux)"
    )
    egl_flat_steps: int | None = Field(
        None, ge=1, description="stop when EGL moved by less than 0.01 over this many steps"
    )
    max_tokens: int | None = Field(None, ge=1, description="tokens that the whole run may cost")
    max_time_s: float | None = Field(None, gt=0, description="seconds that the whole run may take, resumes included")
    stop_file: str | None = Field(None, description="file whose appearance ends the run after the step under way")
    absorb: bool = Field(True, description="take the proven tools of an answered single task into the library")
    absorb_timeout_s: float = Field(
        20.0, gt=0, description="seconds for trying them again first; a tool that takes longer stays with its task"
    )


class DatasetsSettings(Frozen):
    """Where published data sets come from."""

    hub_url: str | None = Field(None, description="address of the hub; unset: the public one of Hugging Face")
    hub_token_env: str = Field(
        "HF_TOKEN", description="name of the environment variable that holds the token for sets that ask for one"
    )


class ScoringSettings(Frozen):
    """How answers are scored."""

    concurrency: int = Field(8, ge=1, le=256, description="answers that models judge at once")


class ExchangeSettings(Frozen):
    """What is handed on with a library, and how it is served to other programs."""

    redact: tuple[Literal["secrets", "emails", "home_paths"], ...] = Field(
        ("secrets", "emails", "home_paths"), description="what is taken out of recorded calls when they are exported"
    )
    redact_patterns: tuple[str, ...] = Field((), description="regular expressions of what is taken out as well")
    serve_calls: int = Field(8, ge=1, le=256, description="calls that 'habilis serve' runs at once; others wait")

    @field_validator("redact_patterns")
    @classmethod
    def _expressions(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                empty = re.compile(pattern).match("") is not None
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
            if empty:
                raise ValueError(f"{pattern!r} matches the empty text")
        return patterns


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
    datasets: DatasetsSettings = DatasetsSettings()
    scoring: ScoringSettings = ScoringSettings()
    sources: dict[str, SourceSettings] = Field(
        default_factory=dict, description="tools of other programs by a name of your own: openapi or mcp, with auth"
    )
    tool_sets: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="named choices among them: source, or source.tool (* stands for any text)"
    )
    exchange: ExchangeSettings = ExchangeSettings()
    prompts_dir: str | None = Field(None, description="folder of prompt files that replace the shipped ones, by name")
    runs_dir: str = Field("runs", description="folder that runs are kept in")

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


@dataclass(frozen=True)
class Loaded:
    """Settings and, by dotted key, the word that says where each value came from."""

    settings: Settings
    origins: dict[str, str]


def load_settings(
    files: Sequence[Path] = (), overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> Settings:
    """Settings from command line, files, environment and defaults. Raises `UserError` naming a bad file or key."""
    return load_with_origins(files, overrides, environ).settings


def load_with_origins(
    files: Sequence[Path] = (), overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> Loaded:
    """Like `load_settings`, with the origin of each value for `habilis config show`."""
    rows = _from_environment(os.environ if environ is None else environ)
    for path in files:
        rows += [(dotted, value, f"file {path}") for dotted, value in _flatten(_from_file(path))]
    rows += _from_overrides(overrides)
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for dotted, value, origin in rows:
        _check_key(dotted, origin)
        _put(merged, dotted, value)
        origins[dotted] = origin
    _without_openai(merged, origins)
    try:
        return Loaded(Settings.model_validate(merged), origins)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        dotted = ".".join(str(part) for part in first["loc"])
        origin = origins.get(dotted) or next((o for k, o in origins.items() if _inside(dotted, k)), "settings")
        raise UserError(f"{origin}: {dotted}: {first['msg']}") from None


def _without_openai(merged: dict[str, Any], origins: dict[str, str]) -> None:
    """OPENAI_BASE_URL and OPENAI_MODEL mean nothing to another provider."""
    basic = merged.get("models", {}).get("basic") or {}
    if _kind(basic.get("provider") or "auto") == "openai":
        return
    for name in ("base_url", "model"):
        if origins.get(f"models.basic.{name}", "").startswith("environment OPENAI_"):
            del basic[name], origins[f"models.basic.{name}"]


def secret(name: str | None) -> str | None:
    """The value of the environment variable `name`, None when unset or empty."""
    return (os.environ.get(name) or None) if name else None


def environment() -> dict[str, str]:
    """A copy of the process environment, for the few programs of the user's own that we start (uv, a code writer)."""
    return dict(os.environ)


def cache_dir() -> Path:
    """Folder for what can be made again: environments, token tables, probe results."""
    base = os.environ.get("HABILIS_CACHE_DIR")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "habilis"


def all_keys() -> dict[str, tuple[Any, str]]:
    """Every dotted key with its default and its description, in the order of the fields."""
    return {dotted: (value, info.description or "") for dotted, (value, info) in _fields().items()}


@lru_cache(maxsize=1)
def _fields() -> Mapping[str, tuple[Any, FieldInfo]]:
    """Every dotted key with its default and its field."""
    found: dict[str, tuple[Any, FieldInfo]] = {}

    def walk(model: BaseModel, prefix: str) -> None:
        for name, info in type(model).model_fields.items():
            value = getattr(model, name)
            if isinstance(value, BaseModel):
                walk(value, f"{prefix}{name}.")
            else:
                found[prefix + name] = (value, info)

    walk(Settings(), "")
    return found


def shipped(kind: Literal["prompts", "configs"]) -> Path:
    """Folder of shipped prompts or configs: inside the wheel, else at the top of the source tree."""
    inside = Path(str(resources.files("habilis"))) / "_shipped" / kind
    return inside if inside.is_dir() else Path(__file__).resolve().parents[2] / kind


Row = tuple[str, Any, str]
"""Dotted key, value, origin."""


def _from_environment(environ: Mapping[str, str]) -> list[Row]:
    plain = (("OPENAI_BASE_URL", "base_url"), ("OPENAI_MODEL", "model"))
    rows: list[Row] = [(f"models.basic.{key}", environ[n], f"environment {n}") for n, key in plain if environ.get(n)]
    for name, text in sorted(environ.items()):
        if name.startswith(ENV_PREFIX) and name not in _OWN_VARIABLES and text.strip():
            dotted = name.removeprefix(ENV_PREFIX).lower().replace("__", ".")
            rows.append((dotted, _parse(dotted, text, f"environment {name}"), f"environment {name}"))
    return rows


_OWN_VARIABLES = {"HABILIS_CACHE_DIR", "HABILIS_IN", "HABILIS_OUT", "HABILIS_QUESTION"}


def _from_file(path: Path) -> dict[str, Any]:
    path = path.expanduser()
    candidates = [path, path.with_name(f"{path.name}.yaml")]
    if len(path.parts) == 1:  # a bare name may mean a shipped file; a path means what it says
        candidates += [shipped("configs") / candidate.name for candidate in candidates]
    found = next((p for p in candidates if p.is_file()), None)
    if found is None:
        known = ", ".join(sorted(p.stem for p in shipped("configs").glob("*.yaml")))
        raise UserError(f"settings file {path} does not exist; shipped ones: {known}")
    try:
        data = _load_yaml(found.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"settings file {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"settings file {path} is not YAML: {' '.join(str(error).split())}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise UserError(f"settings file {path} must hold a mapping of settings, not {type(data).__name__}")
    return data


def _from_overrides(overrides: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    for item in overrides:
        dotted, equals, text = (part.strip() for part in item.partition("="))
        if not equals or not dotted:
            raise UserError(f"--set {item}: expected key=value, for example limits.max_rounds=20")
        rows.append((dotted, _parse(dotted, text, "command line"), "command line"))
    return rows


def _parse(dotted: str, text: str, origin: str) -> Any:
    """The value that `text` means: YAML, but text as it stands where the setting is text; empty means unset."""
    _check_key(dotted, origin)
    if not text.strip():
        return None
    if _is_text(dotted):
        return text
    try:
        return _load_yaml(text)
    except yaml.YAMLError:
        return text


class _Loader(yaml.SafeLoader):
    """YAML in which `off`, `on`, `yes` and `no` are words, as in YAML 1.2, so that `sandbox: {mode: off}` works."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:bool"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|True|TRUE|false|False|FALSE"), list("tTfF"))


def _load_yaml(text: str) -> Any:
    return yaml.load(text, _Loader)  # a SafeLoader: plain data alone


def _is_text(dotted: str) -> bool:
    """Whether the setting takes text alone (`str`, words to choose from, or the value of a header)."""
    if dotted not in _fields():
        return ".headers." in dotted
    kind = _fields()[dotted][1].annotation
    kinds = set(get_args(kind) or (kind,)) - {NoneType}
    return kinds == {str} or all(isinstance(k, str) or get_origin(k) is Literal for k in kinds)


def _inside(dotted: str, key: str) -> bool:
    return dotted.startswith(key + ".")


def _is_open(dotted: str) -> bool:
    """Whether the setting is a mapping with keys of the user's own."""
    return dotted.endswith((".headers", ".options")) or dotted in OPEN_GROUPS


OPEN_GROUPS = ("sources", "tool_sets")
"""Settings at the top whose entries bear names of the user's own; files and overrides merge them entry by entry."""


def _check_key(dotted: str, origin: str) -> None:
    known = _fields()
    if dotted in known or any(_inside(dotted, k) for k in known if _is_open(k)):
        return
    if any(_inside(k, dotted) for k in known):
        raise UserError(f"{origin}: {dotted} is a group of settings, give one of its keys")
    near = difflib.get_close_matches(dotted, known, 1, 0.6)
    raise UserError(
        f"{origin}: unknown setting {dotted}"
        + (f"; did you mean {near[0]}?" if near else "; see 'habilis config show'")
    )


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Dotted key and value of each setting in a tree of mappings."""
    rows: list[tuple[str, Any]] = []
    for key, value in tree.items():
        dotted = f"{prefix}{key}"
        if dotted in OPEN_GROUPS and isinstance(value, dict | None):
            rows += [(f"{dotted}.{name}", entry) for name, entry in (value or {}).items()]
        elif isinstance(value, dict) and not _is_open(dotted):
            rows += _flatten(value, dotted + ".")
        elif value is not None or dotted in _fields():  # a group with all its keys commented out is empty
            rows.append((dotted, value))
    return rows


def _put(tree: dict[str, Any], dotted: str, value: Any) -> None:
    *parents, leaf = dotted.split(".")
    for part in parents:
        if tree.get(part) is None:
            tree[part] = {}
        tree = tree[part]
        if not isinstance(tree, dict):
            raise UserError(f"{dotted}: {part} is a single setting, not a group")
    tree[leaf] = value
