"""What a secret looks like may change on its way to a log; it must not be readable there in any of its forms."""

from __future__ import annotations

import base64
import json
import string
import tracemalloc
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from habilis.core.masker import PLACEHOLDERS, SHORTEST, WINDOW, Masker
from habilis.core.types import CallError, CallOutcome

from ..planted import forms, leaks

KEY = 'sk-p1/an+t"ed\\key='
TOKENS = st.text(string.ascii_letters + string.digits + "-_.~+/=", min_size=SHORTEST, max_size=60)
ODD = st.text(string.ascii_letters + "/\\\"' %+&:{}<é€😀", min_size=SHORTEST, max_size=30).map(str.strip)
SECRETS = st.one_of(TOKENS, ODD).filter(lambda text: len(text) >= SHORTEST and len(set(text)) > 3)
AROUND = st.text(string.ascii_letters + ' {}[]":,.\n', max_size=40)


@pytest.mark.parametrize("form", sorted(forms(KEY)))
def test_a_secret_is_found_in_each_form(form: str) -> None:
    text = f"before {forms(KEY)[form]} behind"
    assert leaks(text.encode(), KEY), "the search itself must see what it looks for"
    clean = Masker({"API_KEY": KEY}).text(text)
    assert leaks(clean.encode(), KEY) == []
    assert "[API_KEY]" in clean
    assert clean.startswith("before ")
    assert clean.endswith(" behind")


@given(SECRETS, st.lists(st.tuples(AROUND, st.integers(0, 200)), min_size=1, max_size=4), AROUND)
def test_no_secret_survives_in_any_mixture_of_forms(secret: str, parts: list[tuple[str, int]], behind: str) -> None:
    assume(secret.lower() not in PLACEHOLDERS)
    known = list(forms(secret).values())
    text = "".join(f"{before}|{known[which % len(known)]}|" for before, which in parts) + behind
    masker = Masker({"NAME_OF_IT": secret})
    clean = masker.text(text)
    assert leaks(clean.encode(), secret) == []
    assert clean.count("[NAME_OF_IT]") >= 1
    assert masker.text(clean) == clean


@given(st.text(max_size=300), st.lists(TOKENS, max_size=5))
@example("50%25 of \\u0041 \\\\ and %zz or \\", ["sk-abcdefgh"])
def test_harmless_text_is_left_alone(text: str, secrets: list[str]) -> None:
    masker = Masker({f"KEY_{number}": f"zq#{secret}" for number, secret in enumerate(secrets)})
    assert masker.text(text) is text
    assert masker.value({"a": [text]}) == {"a": [text]}


@given(SECRETS, st.integers(0, 200), st.lists(st.integers(1, 12), min_size=1))
def test_no_secret_survives_a_stream_of_pieces(secret: str, which: int, sizes: list[int]) -> None:
    known = list(forms(secret).values())
    text, said = f"It is {known[which % len(known)]} and nothing else.", []
    pieces = Masker({"KEY": secret}).pieces(said.append)
    at = 0
    while at < len(text):
        size = sizes[at % len(sizes)]
        pieces(text[at : at + size])
        at += size
    pieces.end()
    assert leaks("".join(said).encode(), secret) == []
    assert "".join(said).startswith("It is ")
    assert "".join(said).endswith(" and nothing else.")


def test_a_stream_is_said_as_it_comes() -> None:
    said: list[str] = []
    pieces = Masker({"KEY": "sk-planted-token"}).pieces(said.append)
    for piece in ("The answer ", "is 4.", " Is it not?"):
        pieces(piece)
    assert "".join(said) != ""
    assert len("".join(said)) >= len("The answer is 4. Is it no")


def test_short_values_and_what_handbooks_print_are_no_secrets() -> None:
    harmless = "1 and true, not-needed at http://ollama:11434"
    masker = Masker({"A": "1", "B": "true", "C": "", "D": "ollama", "E": "not-needed"})
    assert masker.text(harmless) is harmless


def test_lines_of_a_secret_are_found_each_by_itself() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n"
    clean = Masker({"PEM": key}).text("a line: hkiG9w0BAQEFAASC; all: " + key + json.dumps(key))
    assert "MIIEvQIBADANBgkq" not in clean
    assert "hkiG9w0BAQEFAASC" not in clean


def test_a_key_with_a_line_feed_is_found_with_and_without_it() -> None:
    masker = Masker({"API_KEY": "sk-planted-token\n"})
    assert masker.text("Bearer sk-planted-token!") == "Bearer [API_KEY]!"
    assert "planted" not in masker.text(json.dumps("sk-planted-token\n"))


def test_a_value_keeps_its_shape_and_numbers_are_found() -> None:
    masker = Masker({"PIN": "12345678", "KEY": KEY})
    found = masker.value({"pin": 12345678, KEY: [KEY, 1, None, True], "x": {"y": "fine"}})
    assert found == {"pin": "[PIN]", "[KEY]": ["[KEY]", 1, None, True], "x": {"y": "fine"}}
    same = {"pin": 1234567, "x": ["fine"]}
    assert masker.value(same) is same


def test_json_stays_json() -> None:
    masker = Masker({"PIN": "12345678", "KEY": KEY})
    rows = [{"pin": 12345678, "key": KEY}, {"plain": "row"}]
    text = "\n".join(map(json.dumps, rows)).encode() + b"\n"
    first, second, _ = masker.document(text).split(b"\n")
    assert json.loads(first) == {"pin": "[PIN]", "key": "[KEY]"}
    assert json.loads(second) == rows[1]
    assert json.loads(masker.document(json.dumps(rows, indent=1).encode()))[0] == {"pin": "[PIN]", "key": "[KEY]"}


def test_text_around_a_secret_in_json_can_still_be_read() -> None:
    clean = Masker({"KEY": KEY}).text(json.dumps({"a": KEY, "b": "c"}))
    assert json.loads(clean) == {"a": "[KEY]", "b": "c"}


@pytest.mark.parametrize("form", ["plain", "hex", "hex, capitals, colons", "base64 behind 'us'", "percent, small"])
def test_what_a_cut_leaves_of_a_secret_is_taken_out(form: str) -> None:
    secret = "sk-planted-token-0123456789"
    whole = forms(secret)[form]
    outcome = CallOutcome(
        error=CallError(kind="crashed", message=f"it said {whole[:-4]} … {whole[4:]}"), printed=whole[3:]
    )
    clean = Masker({"KEY": secret}).outcome(outcome)
    assert clean.error is not None
    for half in (whole[4:-4], whole[4:16], whole[-16:-4]):
        assert half not in clean.error.message
        assert half not in clean.printed


def test_the_name_of_a_secret_in_its_place_is_found_in_other_forms() -> None:
    """A replayed call is given `[API_TOKEN]` for the variable; the record holds that name too."""
    stand_in = Masker({"API_TOKEN": "[API_TOKEN]"})
    assert stand_in.text("[API_TOKEN]") == "[API_TOKEN]"
    assert stand_in.text(quote("[API_TOKEN]", safe="")) == "[API_TOKEN]"
    assert stand_in.text(base64.b64encode(b"[API_TOKEN]").decode()) == "[API_TOKEN]"


@pytest.mark.parametrize("at", [0, WINDOW - 40, WINDOW - 3, WINDOW, 3 * WINDOW + 17, -1])
def test_a_secret_is_found_anywhere_in_a_long_text(at: int) -> None:
    text = "lorem ipsum " * (WINDOW // 3)
    planted = text[:at] + forms(KEY)["hex, capitals, 0x"] + text[at:]
    assert Masker({"KEY": KEY}).text(planted) == text[:at] + "[KEY]" + text[at:]


def test_a_long_text_takes_little_memory() -> None:
    masker, text = Masker({"KEY": KEY}), (b'{"row": "a line\\nand one more"}\n' * (1 << 18))
    tracemalloc.start()
    assert masker.data(text) is text
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20
