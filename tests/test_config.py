"""Settings: a user who sets one must get it, from where it counts most, and must hear of one that does not exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from habilis.config import (
    REMOVED,
    ROLES,
    ModelsSettings,
    Settings,
    all_keys,
    load_settings,
    load_with_origins,
    shipped,
)
from habilis.core.errors import UserError


def _file(folder: Path, text: str, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# ---- what counts more

ROUNDS = "limits.max_rounds"


@pytest.mark.parametrize(
    ("environ", "files", "overrides", "rounds", "origin"),
    [
        ({}, [], [], 10, None),
        ({"HABILIS_LIMITS__MAX_ROUNDS": "11"}, [], [], 11, "environment HABILIS_LIMITS__MAX_ROUNDS"),
        ({"HABILIS_LIMITS__MAX_ROUNDS": "11"}, [12], [], 12, "file 0.yaml"),
        ({"HABILIS_LIMITS__MAX_ROUNDS": "11"}, [12, 13], [], 13, "file 1.yaml"),
        ({"HABILIS_LIMITS__MAX_ROUNDS": "11"}, [12, 13], ["limits.max_rounds=14"], 14, "command line"),
        ({}, [12], ["limits.max_rounds=14", "limits.max_rounds=15"], 15, "command line"),
    ],
)
def test_command_line_then_files_then_environment_then_default(
    environ: dict[str, str],
    files: list[int],
    overrides: list[str],
    rounds: int,
    origin: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [
        _file(tmp_path, f"limits: {{max_rounds: {n}}}", f"{i}.yaml").relative_to(tmp_path) for i, n in enumerate(files)
    ]
    loaded = load_with_origins(paths, overrides, environ)
    assert loaded.settings.limits.max_rounds == rounds
    assert loaded.origins.get(ROUNDS) == origin


def test_layers_merge_key_by_key(tmp_path: Path) -> None:
    one = _file(tmp_path, "limits: {max_rounds: 3, max_attempts: 2}\nmodels: {basic: {model: a}}", "one.yaml")
    two = _file(tmp_path, "limits: {max_rounds: 4}\nmodels: {judge: {model: b}}", "two.yaml")
    settings = load_settings([one, two], environ={"HABILIS_SANDBOX__MEMORY_MB": "512"})
    assert (settings.limits.max_rounds, settings.limits.max_attempts, settings.sandbox.memory_mb) == (4, 2, 512)
    assert (settings.models.role("basic").model, settings.models.role("judge").model) == ("a", "b")


def test_the_plain_openai_variables_fill_the_basic_role_and_give_way_to_our_own() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "4711", "OPENAI_API_KEY": "k"}
    basic = load_settings(environ=environ).models.role("basic")
    assert (basic.base_url, basic.model, basic.api_key_env) == ("http://127.0.0.1:1/v1", "4711", "OPENAI_API_KEY")
    assert load_settings(environ={**environ, "HABILIS_MODELS__BASIC__MODEL": "mine"}).models.basic.model == "mine"


def test_an_empty_variable_is_an_unset_one() -> None:
    environ = {"OPENAI_BASE_URL": "", "OPENAI_MODEL": "", "HABILIS_RUNS_DIR": "", "HABILIS_LIMITS__MAX_ROUNDS": " "}
    assert load_settings(environ=environ) == Settings()


def test_the_variables_that_are_no_settings_are_left_alone() -> None:
    assert load_settings(environ={"HABILIS_QUESTION": "why?", "HABILIS_CACHE_DIR": "/x"}) == Settings()


# ---- what is refused, and with which words


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("limits.max_round=3", r"command line: unknown setting limits.max_round; did you mean limits.max_rounds\?"),
        ("max_rounds=3", r"did you mean limits.max_rounds\?"),
        ("models.basic.api_key=sk-secret", r"did you mean models.basic.api_key_env\?"),
        ("nothing.like.it=3", "see 'habilis config show'"),
        ("limits=3", "limits is a group of settings; give one of its keys"),
        ("models.basic=3", "models.basic is a group"),
        ("limits.max_rounds", "expected key=value"),
        ("=3", "expected key=value"),
        ("limits.max_rounds=many", "command line: limits.max_rounds: Input should be a valid integer"),
        ("limits.max_rounds=100", "limits.max_rounds: Input should be less than or equal to 99"),
        ("limits.max_rounds=", "limits.max_rounds: Input should be a valid integer"),
        ("sandbox.mode=none", "sandbox.mode: Input should be 'required', 'best-effort' or 'off'"),
        ("models.basic.timeout_s=0", "greater than 0"),
        ("models.basic.headers=3", "models.basic.headers: Input should be a valid dictionary"),
        ("limits.max_rounds.deeper=3", "unknown setting limits.max_rounds.deeper"),
    ],
)
def test_a_bad_override_is_named_with_its_origin(override: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        load_settings(overrides=[override], environ={})
    assert "secret" not in str(caught.value)


def test_a_bad_variable_is_named() -> None:
    with pytest.raises(UserError, match=r"environment HABILIS_LIMIT__MAX_ROUNDS: unknown .* mean limits.max_rounds\?"):
        load_settings(environ={"HABILIS_LIMIT__MAX_ROUNDS": "3"})
    with pytest.raises(UserError, match=r"environment HABILIS_LIMITS__MAX_ROUNDS: limits.max_rounds: .*integer"):
        load_settings(environ={"HABILIS_LIMITS__MAX_ROUNDS": "x"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limits: {max_rouds: 3}", r"mine.yaml: unknown setting limits.max_rouds; did you mean limits.max_rounds\?"),
        ("limits: 3", "limits is a group of settings"),
        ("- a\n- b", "must hold a mapping of settings, not list"),
        ("just words", "must hold a mapping of settings, not str"),
        ("limits: {max_rounds: [", "mine.yaml is not YAML: .*line 1"),
        ("limits: {max_rounds: {a: 1}}", "unknown setting limits.max_rounds.a"),
        ("limits: {max_rounds: null}", "mine.yaml: limits.max_rounds: Input should be a valid integer"),
        ("a: !!python/object/apply:os.getcwd []", "is not YAML"),
    ],
)
def test_a_bad_file_is_named_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said) as caught:
        load_settings([_file(tmp_path, text)], environ={})
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_refused_and_a_byte_order_mark_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(UserError, match="is not YAML"):
        load_settings([tmp_path / "a.yaml"], environ={})
    (tmp_path / "b.yaml").write_text("runs_dir: elsewhere", encoding="utf-8-sig")
    assert load_settings([tmp_path / "b.yaml"], environ={}).runs_dir == "elsewhere"


# ---- how a file is found


def test_a_bare_name_finds_a_shipped_file_and_a_file_of_ones_own_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings([Path("offline")], environ={}).models.basic.provider == "offline"
    _file(tmp_path, "models: {basic: {provider: openai}}", "offline.yaml")
    assert load_settings([Path("offline")], environ={}).models.basic.provider == "openai"


def test_a_missing_file_is_an_error_that_lists_the_shipped_ones(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nothere.* does not exist; shipped ones: .*default.*ollama.*openai"):
        load_settings([Path("nothere")], environ={})
    with pytest.raises(UserError, match="does not exist"):  # a path is never answered with a shipped file
        load_settings([tmp_path / "offline.yaml"], environ={})


# ---- what a value means


@pytest.mark.parametrize(
    ("override", "group", "name", "value"),
    [
        ("models.basic.model=4711", "basic", "model", "4711"),
        ("models.basic.model=true", "basic", "model", "true"),
        ("models.basic.model= qwen3:8b ", "basic", "model", "qwen3:8b"),
        ("models.basic.model=", "basic", "model", None),
        ("models.basic.base_url=http://h/v1?a=b", "basic", "base_url", "http://h/v1?a=b"),
        ("models.judge.temperature=0", "judge", "temperature", 0.0),
        ("models.basic.verify_ssl=false", "basic", "verify_ssl", False),
        ("models.basic.headers={X-Team: '7'}", "basic", "headers", {"X-Team": "7"}),
        ("models.basic.headers.X-Team=7", "basic", "headers", {"X-Team": "7"}),
        ("models.basic.options.top_k=7", "basic", "options", {"top_k": 7}),
        ("models.basic.options.extra.deep=[1]", "basic", "options", {"extra": {"deep": [1]}}),
    ],
)
def test_a_role_takes_text_numbers_and_mappings(override: str, group: str, name: str, value: object) -> None:
    models = load_settings(overrides=[override], environ={}).models
    assert getattr(getattr(models, group), name) == value


@pytest.mark.parametrize("mode", ["off", "best-effort", "required"])
def test_words_that_old_yaml_takes_for_booleans_stay_words(mode: str, tmp_path: Path) -> None:
    assert load_settings([_file(tmp_path, f"sandbox: {{mode: {mode}}}")], environ={}).sandbox.mode == mode
    assert load_settings(overrides=[f"sandbox.mode={mode}"], environ={}).sandbox.mode == mode
    assert load_settings(environ={"HABILIS_SANDBOX__MODE": mode}).sandbox.mode == mode


def test_lists_come_from_every_layer(tmp_path: Path) -> None:
    wanted = ("python", "w.py", "--fast")
    assert load_settings([_file(tmp_path, "writer: {command: [python, w.py, --fast]}")], environ={}).writer.command == (
        wanted
    )
    assert load_settings(overrides=["writer.command=[python, w.py, --fast]"], environ={}).writer.command == wanted
    assert load_settings(environ={"HABILIS_WRITER__COMMAND": '["python", "w.py", "--fast"]'}).writer.command == wanted


def test_headers_of_two_layers_come_together(tmp_path: Path) -> None:
    path = _file(tmp_path, "models: {basic: {headers: {A: '1', B: '2'}}}")
    settings = load_settings([path], ["models.basic.headers.B=3"], {})
    assert settings.models.role("judge").headers == {"A": "1", "B": "3"}


def test_a_group_whose_keys_are_all_commented_out_is_empty(tmp_path: Path) -> None:
    text = "limits:\n  # max_rounds: 3\nmodels:\n  judge:\n  basic: {model: a}\n"
    assert load_settings([_file(tmp_path, text)], environ={}).models.role("judge").model == "a"


def test_every_role_falls_back_to_basic_field_by_field() -> None:
    models = load_settings(overrides=["models.basic.model=a", "models.judge.temperature=1"], environ={}).models
    for role in ROLES:
        assert models.role(role).model == "a"
        assert models.role(role).max_retries == 3
    assert (models.role("judge").temperature, models.role("basic").temperature) == (1.0, None)
    assert ModelsSettings().role("eval").provider == "auto"


def test_settings_cannot_be_changed_behind_ones_back() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().limits.max_rounds = 3  # type: ignore[misc]


@given(st.dictionaries(st.sampled_from(sorted(k for k in all_keys() if k.startswith("limits."))), st.integers(4, 50)))
def test_any_set_of_values_arrives_by_each_layer_alike(values: dict[str, int]) -> None:
    by_line = load_settings(overrides=[f"{k}={v}" for k, v in values.items()], environ={}) if _fits(values) else None
    if by_line is not None:
        environ = {f"HABILIS_{k.upper().replace('.', '__')}": str(v) for k, v in values.items()}
        assert load_settings(environ=environ) == by_line


def _fits(values: dict[str, int]) -> bool:
    return values.get("limits.max_result_tokens", 100) >= 100


# ---- packages


def test_names_of_packages_are_brought_into_one_form() -> None:
    settings = load_settings(overrides=["tools.packages=[Py_YAML, numpy, py.yaml]"])
    assert settings.tools.packages == ("numpy", "py-yaml")
    with pytest.raises(UserError, match="'numpy>=2' is not the name of a package"):
        load_settings(overrides=["tools.packages=[numpy>=2]"])


# ---- the shipped files

SHIPPED = sorted(shipped("configs").glob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_file_loads(path: Path) -> None:
    assert load_settings([path], environ={})


def test_the_default_file_holds_every_setting_with_its_default() -> None:
    text = (shipped("configs") / "default.yaml").read_text(encoding="utf-8")
    assert load_settings([shipped("configs") / "default.yaml"], environ={}) == Settings()
    unset = re.sub(r"^( *)# ([a-z_]+):  # ", r"\1\2: null  # ", text, flags=re.MULTILINE)
    listed = _leaves(yaml.safe_load(unset))
    wanted = {
        key: list(value) if isinstance(value, tuple) else value or None if isinstance(value, dict) else value
        for key, (value, _) in all_keys().items()
        if key.split(".")[0] != "models" or key.split(".")[1] not in {*ROLES} - {"basic"}
    }
    assert listed == wanted
    assert [role for role in ROLES if f"  {role}: {{}}" not in text] == ["basic"]


def _leaves(tree: dict[str, object], prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in tree.items():
        found.update(_leaves(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value})
    return found


def test_every_setting_says_what_it_is_for() -> None:
    assert [key for key, (_, description) in all_keys().items() if len(description) < 10] == []


def test_a_local_server_is_never_sent_the_key_of_another_service() -> None:
    for name in ("ollama", "vllm", "llamacpp"):
        basic = load_settings([Path(name)], environ={"OPENAI_API_KEY": "k"}).models.role("basic")
        assert basic.base_url is not None
        assert basic.base_url.startswith("http://127.0.0.1:")
        assert basic.api_key_env != "OPENAI_API_KEY"


def test_another_provider_takes_no_address_and_no_key_of_openai() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
    for name, key in (("anthropic", "ANTHROPIC_API_KEY"), ("local", "OPENAI_API_KEY")):
        loaded = load_with_origins([], [f"models.basic.provider={name}"], environ)
        basic = loaded.settings.models.role("basic")
        assert (basic.base_url, basic.model, basic.api_key_env) == (None, None, key)
        assert "models.basic.base_url" not in loaded.origins
        named = load_settings(overrides=[f"models.basic.provider={name}", "models.basic.model=c"], environ=environ)
        assert named.models.role("judge").model == "c"
    mixed = load_settings(overrides=["models.builder.provider=anthropic", "models.builder.model=c"], environ=environ)
    builder = mixed.models.role("builder")
    assert (builder.base_url, builder.model, builder.api_key_env) == (None, "c", "ANTHROPIC_API_KEY")
    assert mixed.models.role("judge").base_url == environ["OPENAI_BASE_URL"]


def test_the_overlay_for_research_opens_the_network_and_nothing_else() -> None:
    opened = load_settings([Path("research")], environ={})
    assert opened.capabilities.network == "any"
    assert opened.sandbox == load_settings([], environ={}).sandbox
    assert load_settings([], environ={}).capabilities.network == "ask"


def test_a_path_that_tools_may_read_is_absolute(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"read_list.*'data' is not an absolute path"):
        load_settings([], ["capabilities.read_list=[data]"], environ={})


def test_a_value_is_named_as_the_person_gave_it(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("models: {builder: {model: b}}", encoding="utf-8")
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1/v1", "HABILIS_MODELS__JUDGE__MODEL": "j"}
    models = load_settings([file], ["models.basic.model=m"], environ).models
    assert models.role("basic").said_in("model") == "--set models.basic.model"
    assert models.role("basic").said_in("base_url") == "OPENAI_BASE_URL"
    assert models.role("judge").said_in("model", "judge") == "HABILIS_MODELS__JUDGE__MODEL"
    assert models.role("judge").said_in("base_url", "judge") == "OPENAI_BASE_URL"
    assert models.role("builder").said_in("model", "builder") == f"models.builder.model in {file}"
    assert models.role("vision").said_in("timeout_s", "vision") == "models.vision.timeout_s"


def test_settings_are_equal_wherever_they_came_from() -> None:
    given, made = load_settings((), ["models.basic.model=m"], {}), load_settings((), (), {"OPENAI_MODEL": "m"})
    assert given == made
    assert given.models.role("judge") == made.models.role("judge")
    assert Settings.model_validate(given.model_dump()) == given


# ---- settings of earlier versions


@pytest.mark.parametrize("dotted", REMOVED)
def test_a_removed_setting_is_named_with_its_origin_and_what_to_do(dotted: str, tmp_path: Path) -> None:
    assert dotted not in all_keys()
    *groups, leaf = dotted.split(".")
    file = tmp_path / "old.yaml"
    file.write_text(
        "".join(f"{'  ' * at}{group}:\n" for at, group in enumerate(groups)) + f"{'  ' * len(groups)}{leaf}: 7"
    )
    variable = f"HABILIS_{dotted.upper().replace('.', '__')}"
    ways: dict[str, dict[str, Any]] = {
        f"file {file}": {"files": [file], "environ": {}},
        f"environment {variable}": {"environ": {variable: "7"}},
        "command line": {"overrides": [f"{dotted}=7"], "environ": {}},
    }
    for origin, way in ways.items():
        with pytest.raises(UserError) as caught:
            load_settings(**way)
        assert str(caught.value) == f"{origin}: {dotted} is no longer a setting: {REMOVED[dotted]}"
        assert "remove it" in REMOVED[dotted] or "instead" in REMOVED[dotted]


def test_a_file_of_an_earlier_version_is_mended_in_one_go(tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text("limits: {max_parts: 3, max_rounds: 5}\nscoring: {concurrency: 8}\ndatasets:\n")
    with pytest.raises(
        UserError, match=r"limits\.max_parts is no longer a setting.* scoring\.concurrency is no longer a setting"
    ):
        load_settings([file], environ={})


def test_a_value_that_has_a_type_is_not_read_as_text() -> None:
    typed = load_settings(overrides=[("models.basic.options.seed", "7"), ("tools.use", ["a, b"])], environ={})
    assert typed.models.basic.options == {"seed": "7"}
    assert typed.tools.use == ("a, b",)
    with pytest.raises(UserError, match="command line: unknown setting limits"):
        load_settings(overrides=[("limits.max_round", 3)], environ={})
