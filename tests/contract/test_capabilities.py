"""What a tool may declare, and what is found out about it without running it."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.contract.bindings import Code
from habilis.contract.capabilities import Capabilities, Grant, Malformed, declared, together
from habilis.contract.contract import ContractError, read_contract
from habilis.contract.hosts import HostGrant, HostGrants
from habilis.contract.inference import NO_PROGRAM, inferred, refused_in
from habilis.core.types import CallError, CallOutcome
from habilis.library.tool import Manifest

Source = Callable[..., str]


# ---- hosts


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("https://api.example.org/v1?x=1", "api.example.org"),
        ("https://api.example.org:8443/", "api.example.org:8443"),
        ("http://user:secret@example.org", "example.org"),
        ("example.org:443", "example.org:443"),
        ("*.example.org", "*.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("[2001:DB8::1]", "[2001:db8::1]"),
        ("*", "*"),
    ],
)
def test_a_host_has_one_form(text: str, pattern: str) -> None:
    assert str(HostGrant.meant(text)) == pattern


@pytest.mark.parametrize(
    "text",
    ["", " ", "a b", "*.", "a.*.org", "example.org:0", "example.org:99999", "[x]", "a/b", "https://", "-x-", "**"],
)
def test_what_is_no_host_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        HostGrant.meant(text)


@given(st.text(max_size=80))
def test_any_text_is_a_host_in_its_one_form_or_none(text: str) -> None:
    with contextlib.suppress(ValueError):
        entry = HostGrant.meant(text)
        assert HostGrant.meant(str(entry)) == entry
        assert entry.includes(entry)
        assert HostGrant.read("*").includes(entry)


def test_a_pattern_covers_what_lies_below_it_and_no_neighbour() -> None:
    def covers(allowed: str, wanted: str) -> bool:
        return HostGrant.read(allowed).includes(HostGrant.read(wanted))

    assert covers("*.example.org", "api.example.org")
    assert covers("*.example.org", "*.api.example.org")
    assert not covers("*.example.org", "example.org")
    assert not covers("*.example.org", "notexample.org")
    assert not covers("example.org", "api.example.org")
    assert not covers("example.org", "example.org:8443")
    assert covers("example.org", "example.org:443")
    assert not covers("example.org:443", "example.org")
    assert not covers("example.org", "*")
    assert HostGrants.read(["a.org", "b.org"]).common("*") == ("a.org", "b.org")
    listed = HostGrants.read(["x.a.org", "c.org"])
    assert (listed.common("*.a.org"), listed.common("b.org"), listed.common("c.org")) == (("x.a.org",), (), ("c.org",))


# ---- declarations


def test_a_declaration_is_read_in_one_form(source_of: Source) -> None:
    meta = (
        "'dependencies': [], 'capabilities': {'network': ['https://api.example.org/x', 'api.example.org'], "
        "'read': ['/data/../tables/'], 'env': 'API_TOKEN', 'subprocess': True, 'timeout_s': 300, 'memory_mb': 2048}"
    )
    contract = read_contract(source_of(meta=meta))
    assert contract.capabilities == Capabilities(
        network=("api.example.org",),
        read=("/tables",),
        env=("API_TOKEN",),
        subprocess=True,
        timeout_s=300.0,
        memory_mb=2048,
    )
    assert contract.timeout_s == 300.0


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ("['network']", "must be a dict"),
        ("{'netwrok': ['a.org']}", "did you mean 'network'?"),
        ("{'gpu': True}", "the keys are network, read"),
        ("{'network': 3}", "must be a list of strings"),
        ("{'network': ['http://']}", "names no host"),
        ("{'network': ['any host']}", "for a tool that is given addresses"),
        ("{'read': ['data.csv']}", "is not an absolute path"),
        ("{'read': ['/']}", "is everything"),
        ("{'read': ['/data/..']}", "is everything"),
        ("{'env': ['A-B']}", "not the name of an environment variable"),
        ("{'env': ['LD_PRELOAD']}", "cannot be asked for"),
        ("{'env': ['HTTPS_PROXY']}", "cannot be asked for"),
        ("{'env': ['PYTHONPATH']}", "cannot be asked for"),
        ("{'subprocess': 'yes'}", "must be True or False"),
        ("{'timeout_s': 0}", "seconds up to 3600"),
        ("{'memory_mb': 1.5}", "whole number of MiB"),
        ("{'env': ['A%d' % 1]}", "must be a literal"),
        ("{'env': [" + ",".join(f"'A{n}'" for n in range(60)) + "]}", "more than 50"),
    ],
)
def test_a_declaration_that_is_none_says_what_to_write(source_of: Source, given_: str, said: str) -> None:
    with pytest.raises(ContractError, match=r"capabilities|literal") as caught:
        read_contract(source_of(meta=f"'dependencies': [], 'capabilities': {given_}"))
    assert said in str(caught.value)


plain = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.floats())
values = st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner))


@given(st.dictionaries(st.sampled_from(["network", "read", "env", "subprocess", "timeout_s", "memory_mb"]), values))
def test_any_declaration_is_read_or_refused(given_: dict[str, object]) -> None:
    with contextlib.suppress(Malformed):
        found = declared(given_)
        assert declared(found.model_dump(include={"network", "read", "env", "subprocess"})).needs is not None
        assert Capabilities.model_validate_json(found.model_dump_json()) == found


def test_a_manifest_of_before_is_read_whatever_its_capabilities_hold() -> None:
    old = {"name": "a", "description": "b", "digest": "c" * 64, "input_schema": {}, "output_schema": {}}
    stored = Manifest.model_validate({**old, "capabilities": {"network": ["a.org"], "gpu": ["x"]}})
    assert stored.capabilities == Capabilities(network=("a.org",))
    assert not stored.inspected


# ---- what the source shows

SHOWN = [
    ("import requests\nrequests.get('https://api.example.org/v1')", {"network": ("api.example.org",)}),
    ("import httpx\nBASE = 'https://a.example.org:8443'\nhttpx.get(BASE + '/x')", {"network": ("a.example.org:8443",)}),
    ("import urllib.request as u\nu.urlopen(f'https://api.example.org/{input.x}')", {"network": ("api.example.org",)}),
    ("import requests\nrequests.get(input.url)", {"unknown_host": True}),
    ("import requests\nrequests.get('https://' + input.host)", {"unknown_host": True}),
    ("import socket\nsocket.create_connection(('db.example.org', 1))", {"network": ("db.example.org",)}),
    ("import http.client\nhttp.client.HTTPSConnection('a.example.org')", {"network": ("a.example.org",)}),
    ("import pandas\npandas.read_csv('https://data.example.org/a.csv')", {"network": ("data.example.org",)}),
    ("import socket\nsocket.inet_aton(input.x)", {}),
    ("from urllib.parse import quote\nquote('https://example.org')", {}),
    ("link = 'https://example.org'", {}),
    ("import requests\nNS = 'http://www.w3.org/2000/svg'\nrequests.get(input.url)", {"unknown_host": True}),
    ("import os\nos.environ['API_TOKEN']", {"env": ("API_TOKEN",)}),
    ("from os import environ as e\ne['API_TOKEN']", {"env": ("API_TOKEN",)}),
    ("import os\nNAME = 'API_TOKEN'\nos.environ[NAME]", {"env": ("API_TOKEN",)}),
    ("import os\nos.getenv('REGION', 'eu')", {"env": ("REGION",), "optional": ("REGION",)}),
    ("import os as o\no.environ.get('REGION')", {"env": ("REGION",), "optional": ("REGION",)}),
    ("import os\nos.environ[input.name]", {}),
    ("import os\nos.environ['HOME'], os.environ['LD_PRELOAD'], os.environ['HTTPS_PROXY']", {}),
    ("open('/data/table.csv')", {"read": ("/data/table.csv",)}),
    ("from pathlib import Path\nPath('/data').iterdir()", {"read": ("/data",)}),
    ("PLACE = '/data/a'\nopen(PLACE)", {"read": ("/data/a",)}),
    ("open('/data/out.csv', 'w')", {}),
    ("open('/usr/share/dict/words')\nopen('/tmp/x')\nopen('relative')\nopen('/')", {}),
    ("text = '/data/table.csv'", {}),
    ("import subprocess", {"subprocess": True}),
    ("from os import popen as p\np('ls')", {"subprocess": True}),
    ("import asyncio\nasyncio.create_subprocess_exec('ls')", {"subprocess": True}),
    ("import os\nos.getcwd()", {}),
]


@pytest.mark.parametrize(("source", "needs"), SHOWN, ids=[source for source, _ in SHOWN])
def test_the_source_shows_what_a_tool_needs_and_no_more(source: str, needs: dict[str, object]) -> None:
    assert inferred(Code.of(ast.parse(source))) == Capabilities(**needs)


def test_what_is_only_said_is_no_need(source_of: Source) -> None:
    source = source_of(
        body="    import requests\n    return OutputModel(result=len(requests.get(input.path).text))",
        meta="'dependencies': ['requests'], 'examples': [{'arguments': {'path': 'https://example.org/a'}}]",
    )
    assert read_contract(source).capabilities == Capabilities(unknown_host=True)


def test_who_found_a_need_stands_with_it(source_of: Source) -> None:
    source = source_of(
        body="    import os\n    return OutputModel(result=len(os.environ['API_TOKEN'] + os.environ['OTHER']))",
        meta="'dependencies': [], 'capabilities': {'env': ['API_TOKEN']}",
    )
    assert read_contract(source).capabilities.shown() == ("env API_TOKEN (declared)", "env OTHER (inferred)")


def test_what_a_run_was_refused_is_what_it_needs() -> None:
    refused = CallOutcome(refused=("network api.example.org: not granted", "network b.org:8443: not granted"))
    assert refused_in(refused, {}).network == ("api.example.org", "b.org:8443")
    line = "KeyError: 'API_TOKEN'\n  line 3, in run: token = os.environ[name]"
    unset = CallOutcome(error=CallError(kind="crashed", message=line, exception="KeyError"))
    assert refused_in(unset, {}).env == ("API_TOKEN",)
    column = CallOutcome(error=CallError(kind="crashed", message="KeyError: 'PRICE'\n row[name]", exception="KeyError"))
    assert refused_in(column, {}) == Capabilities()
    path = CallOutcome(error=CallError(kind="denied", message="no", missing_file="/data/a.csv"))
    assert refused_in(path, {}).read == ("/data/a.csv",)
    assert refused_in(path, {"path": "/data/a.csv"}).read == ()
    program = CallOutcome(error=CallError(kind="denied", message=f"{NO_PROGRAM}; PermissionError: …"))
    assert refused_in(program, {}) == Capabilities(subprocess=True)


# ---- more, and together


def test_only_what_goes_beyond_is_new() -> None:
    before = Capabilities(network=("*.example.org",), read=("/data",), env=("A",), timeout_s=60)
    now = Capabilities(network=("api.example.org", "b.org"), read=("/data/x", "/etc/y"), env=("A", "B"), timeout_s=90)
    assert now.beyond(before) == Capabilities(network=("b.org",), read=("/etc/y",), env=("B",), timeout_s=90)
    assert before.beyond(before) == Capabilities()
    assert Capabilities(unknown_host=True).beyond(Capabilities(env=("A",))).unknown_host
    assert together(before, now).beyond(before) == now.beyond(before)


needs = st.builds(
    Capabilities,
    network=st.lists(st.sampled_from(["a.org", "*.a.org", "x.a.org", "*", "b.org:81"]), unique=True).map(tuple),
    read=st.lists(st.sampled_from(["/a", "/a/b", "/c"]), unique=True).map(tuple),
    env=st.lists(st.sampled_from(["A", "B"]), unique=True).map(tuple),
    subprocess=st.booleans(),
    timeout_s=st.sampled_from([None, 1.0, 60.0]),
    memory_mb=st.sampled_from([None, 64, 128]),
)


@given(needs, needs)
def test_what_two_need_together_is_beyond_neither(one: Capabilities, other: Capabilities) -> None:
    assert one.beyond(together(one, other)).needs == ()
    assert one.beyond(one).needs == ()
    assert set(together(one, other).needs) >= set(other.needs) - {
        n for n in other.needs if n.kind in ("timeout_s", "memory_mb")
    }


def test_a_grant_says_kinds_and_names() -> None:
    grant = Grant(network=("a.org",), env=("TOKEN",), subprocess=True, timeout_s=5, memory_mb=64)
    assert grant.shown() == ("network a.org", "env TOKEN", "subprocess", "timeout 5 s", "memory 64 MiB")
    assert Grant(timeout_s=5, subprocess=True).empty
