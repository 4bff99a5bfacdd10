"""A head that proxy and host read differently would carry a second request past the check."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.contract.hosts import Place
from habilis.runtime.egress.heads import Declined, answer, read_request, read_response

HEAD = b"GET http://a.com/x?y=1 HTTP/1.1\r\nHost: a.com\r\n"


def test_a_request_is_sent_on_in_its_plain_form() -> None:
    request = read_request(HEAD + b"Accept: */*\r\nX-One: 1\r\n\r\n")
    assert request.place == Place("a.com", 80)
    assert request.head() == (
        b"GET /x?y=1 HTTP/1.1\r\nHost: a.com\r\nAccept: */*\r\nX-One: 1\r\nConnection: close\r\n\r\n"
    )


def test_what_is_for_one_connection_stays_on_it() -> None:
    request = read_request(
        HEAD
        + b"Proxy-Authorization: Basic eDp5\r\nproxy-connection: keep-alive\r\nConnection: X-Secret, keep-alive\r\n"
        b"X-Secret: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n"
    )
    assert request.head() == b"GET /x?y=1 HTTP/1.1\r\nHost: a.com\r\nConnection: close\r\n\r\n"
    assert not request.websocket


@pytest.mark.parametrize(
    ("extra", "length", "sent"),
    [
        (b"Content-Length: 5\r\n", 5, b"Content-Length: 5"),
        (b"content-length:0\r\n", 0, b"Content-Length: 0"),
        (b"Transfer-Encoding: chunked\r\n", None, b"Transfer-Encoding: chunked"),
        (b"", 0, b"Content-Length: 0"),
    ],
)
def test_a_body_has_one_length(extra: bytes, length: int | None, sent: bytes) -> None:
    request = read_request(HEAD.replace(b"GET", b"POST") + extra + b"\r\n")
    assert request.length == length
    assert request.head().count(sent) == 1


@pytest.mark.parametrize(
    "extra",
    [
        b"Content-Length: 5\r\nContent-Length: 5\r\n",
        b"Content-Length: 5, 5\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length: 5 \x0b\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 0x5\r\n",
        b"Content-Length: \xb2\r\n",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding: identity\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b" Transfer-Encoding: chunked\r\n",
        b"X: 1\r\n folded\r\n",
        b"X: 1\nY: 2\r\n",
        b"X: 1\rY: 2\r\n",
        b"X: \x00\r\n",
        b"X\r\n",
        b": x\r\n",
        b"X y: z\r\n",
        b"Host: a.com\r\n",
        b"hOsT: evil.com\r\n",
        b"Connection: content-length\r\nContent-Length: 5\r\n",
        b"Connection: close, Host\r\n",
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(extra: bytes) -> None:
    with pytest.raises(Declined) as declined:
        read_request(HEAD.replace(b"GET", b"POST") + extra + b"\r\n")
    assert declined.value.status == 400


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"GET /x HTTP/1.1", 400),
        (b"GET https://a.com/ HTTP/1.1", 400),
        (b"GET http:///x HTTP/1.1", 400),
        (b"GET http://a.com@evil.com/ HTTP/1.1", 400),
        (b"GET http://evil.com\\@a.com/ HTTP/1.1", 400),
        (b"GET http://evil.com#@a.com/ HTTP/1.1", 400),
        (b"GET http://a.com/#x HTTP/1.1", 400),
        (b"GET http://evil.com%00.a.com/ HTTP/1.1", 400),
        (b"GET http://a%2ecom/ HTTP/1.1", 400),
        (b"GET http://evil.com/ HTTP/1.1", 400),
        (b"GET http://a.com:8080/ HTTP/1.1", 400),
        (b"GET http://a.com/ HTTP/1.1 x", 400),
        (b"GET  http://a.com/ HTTP/1.1", 400),
        (b"GET\thttp://a.com/ HTTP/1.1", 400),
        (b"GET http://a.com/\xc3\xa9 HTTP/1.1", 400),
        (b"get http://a.com/ HTTP/1.1", 400),
        (b"GET http://a.com/ HTTP/2.0", 505),
        (b"GET http://a.com/ HTTP/0.9", 505),
        (b"GET http://a.com/", 400),
        (b"PRI * HTTP/2.0", 505),
        (b"TRACE http://a.com/ HTTP/1.1", 405),
        (b"CONNECT a.com HTTP/1.1", 400),
        (b"CONNECT a.com:443/x HTTP/1.1", 400),
        (b"CONNECT http://a.com:443 HTTP/1.1", 400),
        (b"CONNECT u@a.com:443 HTTP/1.1", 400),
        (b"CONNECT evil.com:443 HTTP/1.1", 400),
        (b"", 400),
    ],
)
def test_a_target_is_read_in_one_way_or_refused(line: bytes, status: int) -> None:
    with pytest.raises(Declined) as declined:
        read_request(line + b"\r\nHost: a.com\r\n\r\n")
    assert declined.value.status == status


def test_a_host_is_needed_but_for_old_requests_and_tunnels() -> None:
    with pytest.raises(Declined):
        read_request(b"GET http://a.com/ HTTP/1.1\r\n\r\n")
    assert read_request(b"GET http://a.com/ HTTP/1.0\r\n\r\n").place.host == "a.com"
    assert read_request(b"CONNECT a.com:443 HTTP/1.0\r\n\r\n").tunnel
    assert read_request(b"CONNECT A.com.:443 HTTP/1.1\r\nHost: a.com\r\n\r\n").place == Place("a.com", 443)
    assert read_request(b"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n").place == Place("::1", 443)


def test_too_many_fields_are_refused() -> None:
    with pytest.raises(Declined) as declined:
        read_request(HEAD + b"X: 1\r\n" * 101 + b"\r\n")
    assert declined.value.status == 431


def test_a_websocket_is_asked_for_as_such() -> None:
    request = read_request(
        HEAD + b"Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: k\r\n\r\n"
    )
    assert request.websocket
    assert request.head().endswith(b"Sec-WebSocket-Key: k\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")


WORDS = [
    *(
        b"GET",
        b"POST",
        b"CONNECT",
        b" ",
        b"http://",
        b"a.com",
        b"evil.com",
        b"@",
        b"/",
        b":443",
        b":",
        b"\\",
        b"%",
        b"#",
    ),
    *(
        b" HTTP/1.1",
        b"\r\n",
        b"\n",
        b"\r",
        b"Host: ",
        b"Content-Length: ",
        b"Transfer-Encoding: chunked",
        b"5",
        b"\0",
        b"\xff",
    ),
    *(b"127.0.0.1", b"[::1]", b"0x7f.1", b" ", b"\t", b"Connection: upgrade", b"Upgrade: websocket"),
]


@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(WORDS), max_size=30).map(b"".join)))
def test_any_bytes_are_a_sound_request_or_declined(data: bytes) -> None:
    try:
        request = read_request(data + b"\r\n\r\n")
    except Declined:
        return
    again = read_request(
        request.head(whole_target=True) if not request.tunnel else f"CONNECT {request.place} HTTP/1.1\r\n\r\n".encode()
    )
    assert (again.method, again.place, again.length) == (request.method, request.place, request.length)


def test_a_response_is_passed_on_without_the_fields_of_its_connection() -> None:
    status, head = read_response(
        b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: x\r\n folded\r\nProxy-Authenticate: b\r\n"
        b"Transfer-Encoding: chunked\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n"
    )
    assert status == 200
    assert head == (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nConnection: close\r\n\r\n"
    )


@given(st.binary())
def test_any_response_is_read_or_declined(data: bytes) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n"):
        try:
            _, head = read_response(start + data + b"\r\n\r\n")
        except Declined:
            continue
        assert head.endswith(b"\r\n\r\n")


@given(st.integers(200, 599), st.text())
def test_an_answer_of_ours_is_one_message_whatever_it_says(status: int, text: str) -> None:
    head, _, body = answer(status, text).partition(b"\r\n\r\n")
    assert head.count(b"\r\n") == 3
    assert f"Content-Length: {len(body)}".encode() in head
