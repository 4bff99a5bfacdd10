"""What is handed on holds no secret of anybody, wherever in a call it stood, and harmless calls stay as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from habilis.config import ExchangeSettings
from habilis.contract.records import RecordedCall
from habilis.exchange.redaction import Redaction
from habilis.library.tool import digest_of

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "model key": "sk-abcdefghijklmnop1234",
    "stripe": "sk_live_abcdefghijklmnop1234",
    "forge": "ghp_abcdefghijklmnopqrstuvwx",
    "cloud": "AKIAIOSFODNN7EXAMPLE",
    "hub": "hf_abcdefghijklmnopqrstuvwx",
    "chat": "xoxb-123456789012-abcdef",
    "web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "key block": KEY,
    "half a key block": "-----BEGIN PRIVATE KEY-----\nMIIEow",
    "mail": "ada.lovelace+x@mail.example.org",
}
HARMLESS = (
    "sk-learn and pk-fire are no keys",
    "basic understanding of tokens: 12 tokens",
    "key: name, token count 17",
    "a@b is not an address",
    "/home and /Users alone, /srv/home/ada too",
    "the password is asked for at the door",
    "https://example.org/a?b=c",
)
PLAIN = Redaction(ExchangeSettings())


def call(**parts: Any) -> RecordedCall:
    base = {"call_id": "c1", "tool": "t", "version": "v", "output": {"result": 1}, "verdict": "success"}
    return RecordedCall.model_validate(base | parts)


@pytest.mark.parametrize("what", SECRETS)
@pytest.mark.parametrize("frame", ["{}", "it says {} here", '{{"a": "{}"}}', "x={};y", "({})"])
def test_what_looks_like_a_secret_is_taken_out_of_any_text(what: str, frame: str) -> None:
    secret = SECRETS[what]
    clean = PLAIN.text(frame.format(secret))
    assert secret not in clean
    assert "[" in clean


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert PLAIN.text(text) == text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("password=hunter2 x", "password=[secret] x"),
        ('"api_key": "abcd1234"', '"api_key": "[secret]"'),
        ("MY_SECRET_KEY: abcd1234", "MY_SECRET_KEY: [secret]"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [token]"),
        ("postgres://ada:pass@host/db", "postgres://[password]@host/db"),
        ("/home/ada/data/a.csv", "/home/user/data/a.csv"),
        (r"C:\Users\Ada\a.csv", r"C:\Users\user\a.csv"),
    ],
)
def test_only_the_secret_itself_goes(text: str, clean: str) -> None:
    assert PLAIN.text(text) == clean


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
near_secrets = st.text(alphabet=st.sampled_from("sk-ghp_AKIA@.:=/\"' abz019[]passwordtoken\nhomeuser"), max_size=80)


@given(near_secrets | st.text())
def test_cleaning_again_changes_nothing(text: str) -> None:
    once = PLAIN.text(text)
    assert PLAIN.text(once) == once


@given(json_values, st.sampled_from(sorted(SECRETS)), st.sampled_from(["argument", "output", "key", "file", "error"]))
def test_no_place_in_a_call_keeps_it(value: Any, what: str, place: str) -> None:
    secret = f"see {SECRETS[what]} there"
    content = f"a,b\n{secret}\n".encode()
    parts: dict[str, Any] = {
        "argument": {"arguments": {"a": [value, {"b": secret}]}},
        "output": {"output": [value, secret]},
        "key": {"output": {secret: value}},
        "file": {"files": {"a.csv": digest_of(content)}},
        "error": {"error": {"kind": "crashed", "message": secret}},
    }[place]
    clean, files = PLAIN.record(call(**parts), lambda digest: content)
    told = json.dumps(clean.model_dump(), ensure_ascii=False) + "".join(data.decode() for data in files.values())
    assert SECRETS[what] not in told
    assert SECRETS[what].splitlines()[-1] not in told
    assert clean.redacted
    assert all(clean.files[name] == digest_of(data) for name, data in files.items())


@given(json_values)
def test_a_call_without_any_is_handed_on_as_it_is(value: Any) -> None:
    if PLAIN.value(value, set()) == value:
        before = call(arguments={"value": value})
        assert PLAIN.record(before, lambda digest: None) == (before, {})


def test_what_stands_under_the_name_of_a_secret_goes_whatever_it_looks_like() -> None:
    clean, _ = PLAIN.record(
        call(arguments={"password": "correct", "user": "ada", "db_passwd": 1234}), lambda digest: None
    )
    assert clean.arguments == {"password": "[secret]", "user": "ada", "db_passwd": "[secret]"}


def test_equal_names_stay_equal_so_that_a_call_can_still_be_repeated() -> None:
    content = b"x\n"
    path = "/home/ada/a.csv"
    clean, files = PLAIN.record(
        call(arguments={"path": path}, files={path: digest_of(content)}), lambda digest: content
    )
    assert clean.arguments == {"path": "/home/user/a.csv"}
    assert files == {"/home/user/a.csv": content}
    assert clean.redacted == ("home_paths",)


def test_a_file_that_is_no_text_is_left_out_when_something_is_in_it() -> None:
    content = b"\xff\x00\x01" + SECRETS["forge"].encode() + b"\xfe"
    clean, files = PLAIN.record(call(files={"a.bin": digest_of(content)}), lambda digest: content)
    assert (files, clean.files) == ({}, {})
    assert clean.why_not is not None
    harmless = b"\xff\x00\x01"
    assert PLAIN.record(call(files={"a.bin": digest_of(harmless)}), lambda digest: harmless)[1] == {"a.bin": harmless}


def test_text_of_other_systems_is_looked_into() -> None:
    content = SECRETS["mail"].encode("utf-16")
    _, files = PLAIN.record(call(files={"a.txt": digest_of(content)}), lambda digest: content)
    assert files["a.txt"].decode("utf-16") == "[e-mail]"


def test_what_passed_between_a_tool_and_hosts_is_never_handed_on() -> None:
    before = call(granted=("network example.org",), traffic={"digest": digest_of(b"answers")})
    clean, files = PLAIN.record(before, lambda digest: b"answers")
    assert files == {}
    assert clean.traffic is not None
    assert (clean.traffic.digest, bool(clean.traffic.lost)) == ("", True)


def test_rules_are_the_users() -> None:
    own = Redaction(ExchangeSettings(redact=("home_paths",), redact_patterns=(r"\bP-\d{4}\b",)))
    assert (
        own.text("P-1234 ada@example.org sk-abcdefghijklmnop1234")
        == "[redacted] ada@example.org sk-abcdefghijklmnop1234"
    )
    assert own.secrets_in(KEY) == []
    assert Redaction(ExchangeSettings(redact=())).text(KEY) == KEY


@pytest.mark.parametrize("pattern", ["(", "a*"])
def test_a_pattern_that_is_none_is_refused_when_settings_are_read(pattern: str) -> None:
    with pytest.raises(ValidationError):
        ExchangeSettings(redact_patterns=(pattern,))


def test_a_secret_in_a_source_is_named_by_its_line() -> None:
    assert PLAIN.secrets_in(f"x = 1\nkey = '{SECRETS['cloud']}'\n") == ["line 2: token"]
    assert PLAIN.secrets_in("password = input.password\nmail = 'ada@example.org'\n") == []
