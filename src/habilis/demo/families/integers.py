"""Whole numbers: prime factors, primes, common divisors and multiples, factorials, choices, Fibonacci numbers."""

from __future__ import annotations

import re
from typing import Any

from habilis.demo.language import whole
from habilis.demo.operations import Example, Operation, Slot, SlotType, Wording
from habilis.demo.world import Call, World

NUMBER = Slot("n", "integer", "the whole number", ("number", "n", "value", "integer"))
INDEX = Slot("n", "integer", "which one, counted from 1", ("position", "index", "n"))
LIMIT = Slot("n", "integer", "the largest number to look at", ("limit", "upper_bound", "n"))
NUMBERS = Slot("numbers", "array_of_numbers", "the whole numbers", ("numbers", "integers", "values"))
TOTAL = Slot("n", "integer", "how many there are to choose from", ("total", "n", "pool_size"))
CHOSEN = Slot("k", "integer", "how many are chosen", ("chosen", "k", "sample_size"))


def _one_number(
    key: str, word: str, slot: Slot, result: SlotType, names: tuple[tuple[str, str], ...], marks: tuple[str, ...],
    finding: str, example: int = 12, bars: str = "", naive: str = "",
) -> Operation:  # fmt: skip
    """An operation on one number. `names`: wording → tool name; each later wording calls its fields otherwise."""
    return Operation(
        key=key,
        description="{word}.",
        inputs=(slot,),
        output=Slot("result", result, "what was found", ("result", key, "answer")),
        wordings=tuple(
            Wording(when, name, word, {"n": slot.names[i % len(slot.names)], "result": ("result", key)[i % 2]})
            for i, (when, name) in enumerate(names)
        ),
        marks=marks,
        bars=bars,
        example=Example({"n": example}),
        finding=finding,
        naive=naive or key,
        robust=key,
    )


PRIME_FACTORS = _one_number(
    "prime_factors", "Prime factors of a whole number, with repetition, in rising order", NUMBER, "array_of_numbers",
    (("factori[sz]", "factorize_integer"), ("", "find_prime_factors")), ("prime factor",),
    "the prime factors of {n} are {value}", naive="prime_factors_naive",
)  # fmt: skip
IS_PRIME = _one_number(
    "is_prime", "Whether a whole number is prime (primality check)", NUMBER, "boolean",
    (("", "check_primality"),), ("prim",),
    "is {n} prime? {value}", bars="factor|sequence|how many|nth|number of", naive="is_prime_naive",
)  # fmt: skip
NTH_PRIME = _one_number(
    "nth_prime", "The nth prime number in the sequence of primes, the first being 2", INDEX, "integer",
    (("", "find_nth_prime"),), ("nth", "prime"), "prime number {n} is {value}", bars="factor",
)  # fmt: skip
COUNT_PRIMES = _one_number(
    "count_primes", "How many primes there are up to a limit, the limit included", LIMIT, "integer",
    (("", "count_primes_up_to"),), ("primes", "up to"), "there are {value} primes up to {n}", bars="nth|factor",
)  # fmt: skip
FACTORIAL = _one_number(
    "factorial", "Factorial of a whole number", NUMBER, "integer",
    (("calculate", "calculate_factorial"), ("", "compute_factorial")), ("factorial",),
    "the factorial of {n} is {value}", bars="prime|combination|permutation",
)  # fmt: skip
FIBONACCI = _one_number(
    "fibonacci", "The nth Fibonacci number, the first two being 1", INDEX, "integer",
    (("", "compute_fibonacci_number"),), ("fibonacci",), "Fibonacci number {n} is {value}",
)  # fmt: skip
DIGIT_SUM = _one_number(
    "digit_sum", "Sum of the digits of a whole number", NUMBER, "integer",
    (("", "sum_digits_of_number"),), ("digits",), "the digits of {n} add up to {value}",
)  # fmt: skip
DIVISORS = _one_number(
    "divisors", "All divisors of a whole number, in rising order", NUMBER, "array_of_numbers",
    (("factors", "find_factors_of_number"), ("", "list_divisors")), ("all divisors",),
    "the divisors of {n} are {value}", bars="common",
)  # fmt: skip


def _common(key: str, word: str, names: tuple[tuple[str, str], ...], mark: str) -> Operation:
    return Operation(
        key=key,
        description="{word} of whole numbers.",
        inputs=(NUMBERS,),
        output=Slot("result", "integer", "what was found", ("result", key)),
        wordings=tuple(
            Wording(when, name, word, {"numbers": NUMBERS.names[i], "result": ("result", key)[i % 2]})
            for i, (when, name) in enumerate(names)
        ),
        marks=(mark,),
        example=Example({"numbers": [12, 18]}),
        finding=f"the {word[0].lower()}{word[1:]} of {{numbers}} is {{value}}",
        naive=key,
        robust=key,
    )


GCD = _common(
    "gcd", "Greatest common divisor",
    (("highest|greatest common factor|hcf", "find_highest_common_factor"), ("", "compute_greatest_common_divisor")),
    "greatest common|highest common",
)  # fmt: skip
LCM = _common(
    "lcm", "Least common multiple",
    (("lowest|smallest", "find_lowest_common_multiple"), ("", "compute_least_common_multiple")),
    "least common|lowest common",
)  # fmt: skip


def _choice(key: str, word: str, names: tuple[tuple[str, str], ...], mark: str) -> Operation:
    return Operation(
        key=key,
        description="{word}.",
        inputs=(TOTAL, CHOSEN),
        output=Slot("count", "integer", "how many there are", ("count", key)),
        wordings=tuple(
            Wording(when, name, word, {"n": TOTAL.names[i], "k": CHOSEN.names[i]})
            for i, (when, name) in enumerate(names)
        ),
        marks=(mark,),
        example=Example({"n": 5, "k": 2}),
        finding=f"there are {{value}} {key} of {{k}} out of {{n}}",
        naive=key,
        robust=key,
    )


COMBINATIONS = _choice(
    "combinations", "Number of combinations: ways to choose some of many, the order not counting",
    (("choose|binomial", "compute_binomial_coefficient"), ("", "count_combinations")), "combinations|binomial",
)  # fmt: skip
PERMUTATIONS = _choice(
    "permutations", "Number of permutations: ordered arrangements of some of many",
    (("arrange", "count_arrangements"), ("", "count_permutations")), "permutations|arrangements",
)  # fmt: skip

_ORDINAL = r"([0-9]{1,6})(?:st|nd|rd|th)"
_THINGS = r"(?:items?|objects?|things?|elements?|people|books?|letters?|cards?|balls?|persons?|distinct items?)"
_ONE: tuple[tuple[str, Operation], ...] = (
    (r"(?:distinct |unique )?prime (?:factors?|factori[sz]ation|decomposition) of (?:the number (?=[0-9]))?"
     r"(?P<n>.+)", PRIME_FACTORS),
    (r"(?:factori[sz]e|factor)(?: the number)? (?P<n>.+?)(?: into (?:its )?prime(?: factor)?s)?", PRIME_FACTORS),
    (r"factori[sz]ation of (?P<n>.+)", PRIME_FACTORS),
    (r"(?:is|whether|if|check (?:if|whether)) (?P<n>.+?) (?:is )?(?:a |an )?prime(?: number)?(?: or not)?", IS_PRIME),
    (r"(?P<n>.+?) (?:a )?prime(?: number)?", IS_PRIME),
    (rf"{_ORDINAL} prime(?: number)?", NTH_PRIME),
    (r"how many primes?(?: numbers)? (?:are )?(?:there )?(?:are )?(?:up to|not above|until|no greater than) "
     r"(?P<n>.+)", COUNT_PRIMES),
    (r"number of primes?(?: numbers)? up to (?P<n>.+)", COUNT_PRIMES),
    (r"factorial of (?P<n>.+)", FACTORIAL),
    (r"(?P<n>[0-9]+) ?(?:factorial|!)", FACTORIAL),
    (rf"{_ORDINAL} fibonacci number", FIBONACCI),
    (r"fibonacci number (?P<n>[0-9]+)", FIBONACCI),
    (r"(?:sum of (?:all )?(?:the )?digits|digit sum|digital sum) (?:of|in) (?:the number (?=[0-9]))?"
     r"(?P<n>.+)", DIGIT_SUM),
    (r"(?:all )?(?:the )?(?:positive )?(?:divisors|factors) of (?:the number (?=[0-9]))?(?P<n>.+)", DIVISORS),
)  # fmt: skip
_MANY: tuple[tuple[str, Operation], ...] = (
    (
        r"(?:gcd|hcf|gcf|(?:greatest|highest|largest) common (?:divisor|factor))(?: of| between| for)? ?(?P<list>.+)",
        GCD,
    ),
    (r"(?:lcm|(?:least|lowest|smallest) common multiple)(?: of| between| for)? ?(?P<list>.+)", LCM),
)
_CHOICES: tuple[tuple[str, Operation], ...] = (
    (rf"(?:how many |in how many )?ways (?:are there |can (?:you|we|one|i) )?(?:to )?(?:choose|pick|select) "
     rf"(?P<k>\S+)(?: {_THINGS})? (?:out of|from(?: among)?|of)(?: a (?:set|group|deck) of)? (?P<n>\S+)"
     rf"(?: {_THINGS})?", COMBINATIONS),
    (r"(?P<n>\S+) choose (?P<k>\S+)", COMBINATIONS),
    (r"binomial coefficient (?:of )?(?P<n>\S+?),? (?:and |over |choose )?(?P<k>\S+)", COMBINATIONS),
    (rf"(?:how many |number of )?combinations (?:are there )?of (?P<k>\S+)(?: {_THINGS})? (?:out of|from"
     rf"(?: among)?|chosen from) (?P<n>\S+)(?: {_THINGS})?(?: are there)?", COMBINATIONS),
    (rf"(?:how many |number of )?combinations (?:are there )?of (?P<n>\S+)(?: {_THINGS})? taken "
     rf"(?P<k>\S+) at a time", COMBINATIONS),
    (rf"(?:how many |number of )?(?:permutations|arrangements) (?:are there )?of (?P<k>\S+)(?: {_THINGS})? "
     rf"(?:out of|from(?: among)?|chosen from) (?P<n>\S+)(?: {_THINGS})?(?: are there)?", PERMUTATIONS),
    (rf"(?:how many |number of )?(?:permutations|arrangements) (?:are there )?of (?P<n>\S+)(?: {_THINGS})? taken "
     rf"(?P<k>\S+) at a time", PERMUTATIONS),
    (rf"(?:how many |in how many )?ways (?:are there |can (?:you|we|one|i) )?(?:to )?(?:arrange|order|line up) "
     rf"(?P<n>\S+)(?: {_THINGS})?", PERMUTATIONS),
    (rf"(?:how many |in how many )?ways can (?P<n>\S+)(?: {_THINGS})? be (?:arranged|ordered|lined up)", PERMUTATIONS),
)  # fmt: skip


class Integers:
    """Family of whole numbers. A number may be what another tool finds: "the prime factors of the number of rows"."""

    operations = (
        PRIME_FACTORS, IS_PRIME, NTH_PRIME, COUNT_PRIMES, FACTORIAL, FIBONACCI, DIGIT_SUM, DIVISORS, GCD, LCM,
        COMBINATIONS, PERMUTATIONS,
    )  # fmt: skip

    def read(self, phrase: str, world: World) -> Call | None:
        text = re.sub(r"^in how many", "how many", phrase, flags=re.I)
        for pattern, operation in _ONE:
            if match := re.fullmatch(pattern, text, re.IGNORECASE):
                value = world.amount(match[1])
                if value is not None and not isinstance(value, float):
                    return Call(operation, {"n": value})
        for pattern, operation in _MANY:
            if (match := re.fullmatch(pattern, text, re.IGNORECASE)) and (listed := _integers(match["list"], world)):
                return Call(operation, {"numbers": listed})
        for pattern, operation in _CHOICES:
            if match := re.fullmatch(pattern, text, re.IGNORECASE):
                n, k = whole(match["n"]), whole(match.groupdict().get("k") or match["n"])
                if n is not None and k is not None:
                    return Call(operation, {"n": n, "k": k})
        return None


def _integers(text: str, world: World) -> list[Any] | None:
    parts = re.split(r",? and |, ?| ", text.strip("() "))
    found = [whole(part) for part in parts if part]
    return found if len(found) > 1 and None not in found else None
