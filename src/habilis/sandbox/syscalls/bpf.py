"""Rules for system calls, and the classic BPF program for seccomp(2) that they come to.

The program finds a call's rule by a binary search over numbers. It looks at nothing but the number on its way to a rule
without conditions, so that the kernel, which works out such answers when a filter is installed, does not run it for
the calls that are simply allowed. Source: Documentation/userspace-api/seccomp_filter.rst, kernel/seccomp.c.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP, _JUMP_EQUAL, _JUMP_AT_LEAST = 0x05, 0x15, 0x35
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_WHOLE = 0xFFFFFFFF
_SHORT = 255
"""The farthest that a conditional jump goes."""
ALLOW, ASK = 0x7FFF0000, 0x7FC00000
"""Answers of a filter: go on; ask whoever listens to it."""


def fail(number: int) -> int:
    """The answer by which a call fails with error `number`; with 0 it reports success and is not made."""
    return 0x00050000 | number


@dataclass(frozen=True)
class Check:
    """Whether the low 32 bits of an argument (from 0), or the high ones, are one of `values` within `mask`."""

    argument: int
    values: tuple[int, ...]
    mask: int = _WHOLE
    high: bool = False

    @property
    def offset(self) -> int:
        """Where they lie in `struct seccomp_data`."""
        return _ARGUMENTS + 8 * self.argument + 4 * self.high


@dataclass(frozen=True)
class FilterCase:
    """What is answered where all of `checks` hold."""

    checks: tuple[Check, ...]
    answer: int


@dataclass(frozen=True)
class CallRule:
    """The answer to one call: that of the first case that holds, else `otherwise`."""

    cases: tuple[FilterCase, ...]
    otherwise: int


def always(answer: int) -> CallRule:
    """One answer whatever the arguments."""
    return CallRule((), answer)


class _Instruction(NamedTuple):
    code: int
    yes: int
    no: int
    value: int


_Code = list[_Instruction]


def assembled(architecture: int, rules: Mapping[int, CallRule], unlisted: int, last: int, beyond: int) -> bytes:
    """The filter as `struct sock_filter` entries.

    `rules` are by number; the answer to any other is `unlisted` up to number `last`, and `beyond` above it (the numbers
    of the x32 table among them). Calls by another table than `architecture`'s are not permitted.
    """
    starts: list[tuple[int, CallRule]] = []
    for number in range(last + 2):
        rule = rules.get(number, always(unlisted)) if number <= last else always(beyond)
        if not starts or starts[-1][1] != rule:
            starts.append((number, rule))
    code = [
        _Instruction(_LOAD, 0, 0, _ARCHITECTURE),
        _Instruction(_JUMP_EQUAL, 1, 0, architecture),
        _Instruction(_RETURN, 0, 0, fail(1)),
        _Instruction(_LOAD, 0, 0, _NUMBER),
        *_search(starts),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _search(starts: list[tuple[int, CallRule]]) -> _Code:
    """From the number to its rule; each of `starts` holds up to the next."""
    if len(starts) == 1:
        return _of_rule(starts[0][1])
    middle = len(starts) // 2
    below, above = _search(starts[:middle]), _search(starts[middle:])
    if len(below) <= _SHORT:
        return [_Instruction(_JUMP_AT_LEAST, len(below), 0, starts[middle][0]), *below, *above]
    far = _Instruction(_JUMP, 0, 0, len(below))
    return [_Instruction(_JUMP_AT_LEAST, 0, 1, starts[middle][0]), far, *below, *above]


def _of_rule(rule: CallRule) -> _Code:
    cases = [part for case in rule.cases for part in _of_case(case)]
    return [*cases, _Instruction(_RETURN, 0, 0, rule.otherwise)]


def _of_case(case: FilterCase) -> _Code:
    code = [_Instruction(_RETURN, 0, 0, case.answer)]
    for check in reversed(case.checks):
        code = [*_of_check(check, len(code)), *code]
    return code


def _of_check(check: Check, rest: int) -> _Code:
    """Go on after it where it holds, else past the `rest` of its case."""
    last = len(check.values) - 1
    jumps = [
        _Instruction(_JUMP_EQUAL, last - n, rest if n == last else 0, value) for n, value in enumerate(check.values)
    ]
    masked = [] if check.mask == _WHOLE else [_Instruction(_AND, 0, 0, check.mask)]
    return [_Instruction(_LOAD, 0, 0, check.offset), *masked, *jumps]
