"""A grant that lets more through than it says would be a way to any host; one that lets less through, a broken tool."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.contract.hosts import BadHost, HostGrant, HostGrants, Place, address_in, host_of, place_of
from habilis.runtime.egress.addresses import kind_of


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("a_b.example.com", "a_b.example.com"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2606:2800:0220::1]", "2606:2800:220::1"),
        ("3com.com", "3com.com"),
    ],
)
def test_a_host_has_one_spelling(text: str, host: str) -> None:
    assert host_of(text) == host


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            ".",
            "..",
            "a..b",
            ".com",
            "-a.com",
            "a-.com",
            "a b.com",
            "a\x00.com",
            "a\n.com",
            "a%2ecom",
            "a/b",
            "a\\b",
        ),
        *("0x7f.1", "127.1", "2130706433", "0177.0.0.1", "127.0.0.1.2", "0x7f000001", "1.2.3.0x4", "127.0.0.256"),
        *("bücher.example", "a。com", "ａ.com", "[::1", "[fe80::1%eth0]", "[127.0.0.1]", "::1", "a" * 64 + ".com"),
        *("x." * 127 + "com", "granted.com@evil.com", "a:b", "٣.example", "①.com", "\u212aelvin.com", "[::1]\n"),
    ],
)
def test_what_could_be_read_in_two_ways_is_no_host(text: str) -> None:
    with pytest.raises(BadHost):
        host_of(text)


@pytest.mark.parametrize(
    "text", ["a.com", "a.com:", "a.com:0", "a.com:080", "a.com:65536", "a.com:8o", "a.com:1:2", "u@a:1"]
)
def test_a_place_has_one_port(text: str) -> None:
    with pytest.raises(BadHost):
        place_of(text)


@given(st.text())
def test_whatever_is_read_as_a_host_is_plain_and_stays_as_it_is(text: str) -> None:
    try:
        host = host_of(text)
    except BadHost:
        return
    assert host_of(f"[{host}]" if ":" in host else host) == host
    assert set(host) <= set("abcdefghijklmnopqrstuvwxyz0123456789-._:")
    assert address_in(host) is not None or not host.rsplit(".", 1)[-1].isdigit()


@given(
    st.text(),
    st.lists(st.sampled_from([" ", "\0", "@", "%2e", "/", "\\", "#", "?", "\r\n", "\t", "::", "。"]), min_size=1),
)
def test_nothing_around_a_granted_name_is_taken_for_it(text: str, odd: list[str]) -> None:
    grants = HostGrants.read(["granted.com", "*.below.com"])
    for whole in (f"granted.com{odd[0]}{text}", f"{text}{odd[0]}granted.com", text.join(odd) + ".below.com"):
        try:
            place = place_of(whole, 80)
        except BadHost:
            continue
        assert grants.refusal(place) is None or place.host not in ("granted.com",)
        assert place.host == "granted.com" or place.host.endswith(".below.com") or grants.refusal(place)


@pytest.mark.parametrize(
    ("entry", "through", "not_through"),
    [
        (
            "a.com",
            ["a.com:80", "a.com:443", "A.COM.:443"],
            ["a.com:8080", "b.a.com:443", "xa.com:443", "a.com.evil.org:443"],
        ),
        ("*.a.com", ["b.a.com:443", "c.b.a.com:80"], ["a.com:443", "xa.com:443", "b.a.com:22"]),
        ("a.com:8080", ["a.com:8080"], ["a.com:80", "a.com:443"]),
        ("*", ["a.com:443", "1.1.1.1:80", "[2606::1]:443"], ["a.com:22", "intranet:80", "localhost:80"]),
        ("*:8080", ["a.com:8080"], ["a.com:80"]),
        ("bücher.example", ["xn--bcher-kva.example:443"], ["bucher.example:443"]),
        ("straße.example", ["xn--strae-oqa.example:443"], ["strasse.example:443"]),
        ("[::1]:8080", ["[::1]:8080", "[0:0::1]:8080"], ["[::1]:80", "127.0.0.1:8080"]),
        ("localhost:8080", ["LOCALHOST:8080"], ["127.0.0.1:8080", "localhost:80"]),
    ],
)
def test_an_entry_lets_through_what_it_says(entry: str, through: list[str], not_through: list[str]) -> None:
    grants = HostGrants.read([entry])
    assert [text for text in through if grants.refusal(place_of(text))] == []
    assert [text for text in not_through if not grants.refusal(place_of(text))] == []
    assert str(HostGrant.read(str(grants))) == str(grants)


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "http://a.com",
        "a.com/x",
        "*a.com",
        "a.*.com",
        "*.*",
        "*.*:1",
        "*.127.0.0.1",
        "u@a.com",
        "a.com:0",
        "a b",
        "☃@",
    ],
)
def test_an_entry_that_says_nothing_clear_is_refused(entry: str) -> None:
    with pytest.raises(BadHost):
        HostGrant.read(entry)


@given(st.text())
def test_no_entry_breaks_the_reader(text: str) -> None:
    try:
        grant = HostGrant.read(text)
    except BadHost:
        return
    assert HostGrant.read(str(grant)) == grant


def test_the_reason_says_whether_name_or_port_is_missing() -> None:
    grants = HostGrants.read(["a.com", "b.com:8080"])
    assert grants.refusal(Place("c.com", 80)) == "c.com is not granted"
    assert grants.refusal(Place("a.com", 22)) == "port 22 of a.com is not granted"
    assert grants.refusal(Place("b.com", 80)) == "port 80 of b.com is not granted"
    assert str(grants) == "a.com, b.com:8080"


NOT_PUBLIC = [
    *("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.255", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "203.0.113.9", "224.0.0.1", "240.0.0.1"),
    *("255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::808:808", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "100::1", "5f00::1", "3fff::1"),
]


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_an_address_that_leads_inwards_is_known_in_every_form(text: str) -> None:
    assert kind_of(ip_address(text)) is not None


@pytest.mark.parametrize(
    "text",
    ["1.1.1.1", "93.184.215.14", "172.32.0.1", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2a00::1"],
)
def test_a_public_address_is_let_through(text: str) -> None:
    assert kind_of(ip_address(text)) is None


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_no_address_that_python_calls_private_is_public(address: IPv4Address | IPv6Address) -> None:
    if kind_of(address) is None:
        inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        nat = isinstance(address, IPv6Address) and address.packed[:12] == ip_address("64:ff9b::").packed[:12]
        assert nat or (inner or address).is_global
        assert not (inner or address).is_multicast
