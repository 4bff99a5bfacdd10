"""The filter of system calls against the kernel's whole table, at each level, for both processors.

The program is run by a small machine for classic BPF below, over every number and the arguments that decide; what
must come of it is written down in `hostile/calltable.py`. That the kernel does the same to a tool is asked of it by the
attempts of `hostile/everycall.py`, at each level and user, warm and cold.
"""

from __future__ import annotations

import os
import platform
import re
import struct
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from habilis.sandbox.syscalls import seccomp
from habilis.sandbox.syscalls.callnumbers import LAST, numbers

sys.path.insert(0, str(Path(__file__).parent))

from hostile.calltable import (
    ALLOW,
    ASK,
    ATTRIBUTES,
    BY_ARGUMENTS,
    EXTENDED,
    KINDS,
    PLAIN,
    SIGNALS,
    Arguments,
    Kind,
    Verdict,
    by_arguments,
    by_number,
)

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
OF_32_BITS = range(403, 424)
"""Calls of processors that have no 64 bits."""
MOST_STEPS = 60
"""Instructions on the way to any verdict: the search takes some nine, the longest list of arguments about forty."""

each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
each_machine = pytest.mark.parametrize("machine", list(MACHINES))


@lru_cache(maxsize=32)
def instructions(program: bytes) -> list[tuple[int, int, int, int]]:
    return [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]


def verdict(program: bytes, architecture: int, number: int, arguments: Arguments = ()) -> tuple[Verdict, int]:
    """What the filter answers, and in how many steps. Source: net/core/filter.c, the part that seccomp(2) takes."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *(value & (1 << 64) - 1 for value in padded))
    code = instructions(program)
    accumulator = at = steps = 0
    while True:
        kind, yes, no, value = code[at]
        at, steps = at + 1, steps + 1
        if kind == 0x20:  # load a word
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif kind == 0x54:  # and
            accumulator &= value
        elif kind == 0x05:  # jump
            at += value
        elif kind == 0x15:  # jump if equal
            at += yes if accumulator == value else no
        elif kind == 0x35:  # jump if at least
            at += yes if accumulator >= value else no
        else:
            assert kind == 0x06, "an instruction that the filter is not known to use"
            return meaning(value), steps


def meaning(answer: int) -> Verdict:
    if answer >> 16 == 5:
        return answer & 0xFFFF
    return {0x7FFF0000: ALLOW, 0x7FC00000: ASK}[answer]


def filter_of(kind: Kind, machine: str) -> bytes:
    return seccomp.program(**kind.options, machine=machine)  # type: ignore[arg-type]


@each_kind
@each_machine
def test_every_number_of_the_table_has_the_verdict_that_was_meant(kind: Kind, machine: str) -> None:
    program, column = filter_of(kind, machine), list(MACHINES).index(machine)
    expected = by_number(kind, column)
    found = {number: verdict(program, MACHINES[machine], number) for number in expected}
    assert {number: answer for number, (answer, _) in found.items()} == expected
    assert max(steps for _, steps in found.values()) <= MOST_STEPS


@each_kind
@each_machine
def test_arguments_decide_where_the_number_does_not(kind: Kind, machine: str) -> None:
    program, column = filter_of(kind, machine), list(MACHINES).index(machine)
    wrong = []
    tried = set()
    for name, arguments, expected in by_arguments(kind):
        number = numbers()[name][column]
        tried.add(name)
        if number is not None:
            found, steps = verdict(program, MACHINES[machine], number, arguments)
            wrong += [(name, arguments, found)] if found != expected else []
            assert steps <= MOST_STEPS
    assert wrong == []
    assert tried == BY_ARGUMENTS, "a call that arguments decide is tried with none"


@each_kind
def test_calls_by_another_table_are_refused(kind: Kind) -> None:
    """The 32-bit gate has other numbers: what is getpid here makes a link there."""
    for machine in MACHINES:
        for architecture in (0x40000003, 0x40000028, 0xC00000F3, 0):
            answers = {verdict(filter_of(kind, machine), architecture, number)[0] for number in range(0, LAST + 10, 9)}
            assert answers == {1}


@each_machine
def test_the_seal_takes_programs_away_and_nothing_else(machine: str) -> None:
    program, column = seccomp.without_programs(machine), list(MACHINES).index(machine)
    refused = {number for number in range(LAST + 1) if verdict(program, MACHINES[machine], number)[0] != ALLOW}
    assert refused == {numbers()[name][column] for name in ("execve", "execveat")}
    assert verdict(program, MACHINES[machine], 0x40000000 | 520)[0] == 38


@each_kind
@each_machine
def test_the_kernel_takes_the_filter_and_need_not_run_it_for_plain_calls(kind: Kind, machine: str) -> None:
    """It works out the answer to a call ahead if nothing but its number and its table is looked at on the way."""
    program, column = filter_of(kind, machine), list(MACHINES).index(machine)
    assert len(instructions(program)) < 4096
    for name in PLAIN - BY_ARGUMENTS:
        number = numbers()[name][column]
        if number is not None:
            assert verdict(program, MACHINES[machine], number)[1] <= 16, name


def test_the_lists_name_each_call_once_and_only_calls_that_there_are() -> None:
    lists = (PLAIN, SIGNALS, ATTRIBUTES, EXTENDED, BY_ARGUMENTS)
    assert sum(map(len, lists)) == len(frozenset().union(*lists))
    assert frozenset().union(*lists) <= numbers().keys()
    assert max(number for pair in numbers().values() for number in pair if number is not None) == LAST


@pytest.mark.parametrize(
    ("column", "header"),
    [(0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), (1, "/usr/include/asm-generic/unistd.h")],
)
def test_names_and_numbers_are_the_kernels(column: int, header: str) -> None:
    if not Path(header).exists():
        pytest.skip("no headers of the kernel here")
    found = re.findall(r"^#define __NR(?:3264)?_(\w+) (\d+)$", Path(header).read_text(encoding="utf-8"), re.MULTILINE)
    known = {name: int(number) for name, number in found if int(number) not in OF_32_BITS}
    for name in ("arch_specific_syscall", "syscalls", "sync_file_range2"):  # marks, and a twin that arm64 has not
        known.pop(name, None)
    known |= {"newfstatat": known.pop("fstatat")} if "fstatat" in known else {}
    ours = {name: pair[column] for name, pair in numbers().items() if pair[column] is not None}
    assert known.items() - ours.items() == set()


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in MACHINES, reason="asks this kernel")
def test_calls_of_this_kernel_that_nobody_has_looked_at_are_refused() -> None:
    """Which they are this kernel tells: it answers ENOSYS to numbers that it does not have. They are named, since the
    list should be extended then; a tool cannot make them either way."""
    unknown = numbers_of_this_kernel() - {pair[machine_column()] for pair in numbers().values()}
    program = seccomp.program()
    architecture = MACHINES[platform.machine()]
    let_through = {n for n in unknown if verdict(program, architecture, n)[0] in (ALLOW, ASK)}
    assert let_through == set(), f"of the numbers that the table does not know {sorted(unknown)}"


def machine_column() -> int:
    return list(MACHINES).index(platform.machine())


def numbers_of_this_kernel() -> set[int]:
    """Numbers outside the table to which this kernel has a call, found by a child that makes each with arguments that
    are good for nothing."""
    import ctypes

    known = {pair[machine_column()] for pair in numbers().values()}
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            libc, found = ctypes.CDLL(None, use_errno=True), []
            for number in (*range(LAST + 1), *range(LAST + 1, LAST + 100)):
                if number not in known:
                    nothing = [ctypes.c_long(-1)] * 6
                    if libc.syscall(ctypes.c_long(number), *nothing) != -1 or ctypes.get_errno() != 38:
                        found.append(number)
            os.write(writing, " ".join(map(str, found)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return {int(word) for word in said.split()}
