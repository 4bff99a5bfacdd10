"""What a rule promises holds for every value, not for the examples alone; and no text is too strange to be read."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from habilis.grounding import Known, founded_by, unfounded, unfounded_data
from habilis.grounding.known import READ

WHOLE = st.integers(1_000, 10**12)
CENTS = st.integers(100_000, 10**11).map(lambda cents: Decimal(cents).scaleb(-2))


def grouped(value: Decimal | int, mark: str, point: str = ".") -> str:
    whole, _, rest = f"{value:,}".partition(".")
    return whole.replace(",", mark) + (point + rest if rest else "")


def indian(value: Decimal | int) -> str:
    whole, _, rest = str(value).partition(".")
    head, tail = whole[:-3], whole[-3:]
    pairs = []
    while head:
        head, pair = head[:-2], head[-2:]
        pairs.insert(0, pair)
    return ",".join([*pairs, tail]) + (f".{rest}" if rest else "")


def in_digits(zero: str) -> Callable[[Decimal | int], str]:
    table = {ord("0") + n: ord(zero) + n for n in range(10)}
    return lambda value: str(value).translate(table)


FORMS: dict[str, Callable[[Decimal | int], str]] = {
    "comma": lambda value: grouped(value, ","),
    "point": lambda value: grouped(value, ".", ","),
    "space": lambda value: grouped(value, " ", ","),
    "thin space": lambda value: grouped(value, "\u202f", ","),
    "apostrophe": lambda value: grouped(value, "’"),
    "Indian": indian,
    "Arabic-Indic": in_digits("٠"),
    "Devanagari": in_digits("०"),
    "full width": in_digits("０"),
    "scientific": lambda value: f"{Decimal(value):E}",
}


@pytest.mark.parametrize("form", FORMS)
@given(value=WHOLE | CENTS)
def test_a_number_in_another_form_is_founded(form: str, value: Decimal | int) -> None:
    assert unfounded(f"It is {FORMS[form](value)}.", [f"result: {value}"]) == ()
    assert unfounded(f"It is {value}.", [f"result: {FORMS[form](value)}"]) == ()


@given(value=CENTS, places=st.integers(0, 1))
def test_a_number_rounded_at_the_digits_that_it_shows_is_founded(value: Decimal, places: int) -> None:
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    assert unfounded(f"It is {rounded}.", [f"result: {value}"]) == ()


@given(value=CENTS, cents=st.integers(1, 10**6), less=st.booleans())
def test_a_number_that_differs_by_more_than_rounding_is_not(value: Decimal, cents: int, less: bool) -> None:
    other = value + Decimal(-cents if less else cents).scaleb(-2)
    if other > 0 and grouped(other, "") != grouped(value, ""):
        shown = other if other != other.to_integral_value() else other + Decimal("0.01")
        if shown != value:
            assert unfounded(f"It is {shown:f}.", [f"result: {value:f}"])


@given(value=WHOLE)
def test_digits_that_are_exchanged_are_seen(value: int) -> None:
    digits = str(value)
    exchanged = digits[1] + digits[0] + digits[2:]
    if exchanged != digits and exchanged[0] != "0":
        assert unfounded(f"It is {exchanged}.", [f"result: {value}"])


UNITS = [
    ("km", "m", 1_000),
    ("kg", "g", 1_000),
    ("h", "min", 60),
    ("min", "s", 60),
    ("l", "ml", 1_000),
    ("GB", "MB", 1000),
]


@given(value=st.integers(2, 10**6), unit=st.sampled_from(UNITS))
def test_a_unit_may_be_converted_and_not_exchanged(value: int, unit: tuple[str, str, int]) -> None:
    large, small, factor = unit
    findings = [f"result: {value} {large}"]
    assert unfounded(f"It is {value * factor} {small}.", findings) == ()
    assert unfounded(f"It is {value} {small}.", findings)
    assert unfounded(f"It is {value * 10} {large}.", findings)


@given(tenths=st.integers(1, 999))
def test_a_percentage_may_be_a_fraction(tenths: int) -> None:
    percent, fraction = Decimal(tenths).scaleb(-1), Decimal(tenths).scaleb(-3)
    assert unfounded(f"It is {percent} %.", [f"share: {fraction}"]) == ()
    assert unfounded(f"It is {fraction}.", [f"share: {percent} %"]) == ()


@given(day=st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 30)))
def test_a_date_in_another_form_is_founded_and_the_next_day_is_not(day: datetime.date) -> None:
    findings = [f"date: {day.isoformat()}"]
    following = day + datetime.timedelta(1)
    for form in ("%-d %B %Y", "%B %-d, %Y", "%d.%m.%Y", "%Y/%m/%d", "%A", "%B %Y", "%Y", "%Y年%-m月%-d日"):
        assert unfounded(f"It was {day.strftime(form)}.", findings) == (), form
    for form in ("%-d %B %Y", "%B %-d, %Y", "%d.%m.%Y", "%A"):
        assert unfounded(f"It was {following.strftime(form)}.", findings), form


@given(answer=st.text(), source=st.text(), data=st.recursive(st.none() | st.text() | st.floats(), st.lists))
def test_no_text_is_too_strange(answer: str, source: str, data: object) -> None:
    for value in founded_by(answer, Known([source], source)):
        assert value.text
    unfounded_data(data, [source])


STRANGE = st.text(alphabet="019.,:;-+/*^%€$k m{}[]()\"'„“«»\\|\n\0年三十KIVXäß")


@settings(max_examples=300)
@given(answer=STRANGE, source=STRANGE)
def test_no_heap_of_signs_is_too_strange(answer: str, source: str) -> None:
    unfounded(answer, Known([source], source))


@given(answer=st.text(alphabet="abcdefgh 12.,", min_size=1))
def test_what_is_copied_is_always_founded(answer: str) -> None:
    assert unfounded(answer, [f"xyz {answer} xyz"]) == ()


LONG = ["1,", "1 ", "a/", "Ab ", "ein ", "十", "1.", '"a ', "12-", "[1,", "+1 ", "2 h ", "0,00", "Ab1/", "(m):"]


@pytest.mark.slow
@pytest.mark.parametrize("piece", LONG)
def test_the_time_grows_no_faster_than_what_is_read(piece: str) -> None:
    answer = 'It is 42.7 km on 3 May 2024, said Alice Walker: "never ever say never".'

    def seconds(size: int) -> float:
        begun = time.process_time()
        unfounded(answer, [(piece * size)[:size]])
        return time.process_time() - begun

    half = min(seconds(READ // 8) for _ in range(2))
    assert seconds(READ // 4) < 4 * half + 0.1, "twice the text costs twice the time, not four times"
