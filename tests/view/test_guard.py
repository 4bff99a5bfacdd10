"""Who could read a user's runs if the viewer let them: another site, another user's program, a name of someone else."""

from __future__ import annotations

import urllib.error
import urllib.request
from http.cookiejar import CookieJar

import pytest

NO = (403, 421)


async def let_in(client, guard):
    reply = await client.get(f"/?token={guard.token}")
    assert reply.status_code == 303
    return reply


async def test_without_the_token_nobody_sees_anything(client, guard, written):
    written.ended("one")
    for path in ("/", "/runs/one/", "/assets/view.js", "/?token=wrong", "/runs/one/tasks/task/live"):
        reply = await client.get(path)
        assert reply.status_code == 403
        assert "one" not in reply.text.replace("one that", "")


async def test_the_first_visit_brings_a_cookie_that_only_this_browser_and_site_can_send(client, guard, written):
    written.ended("one")
    reply = await let_in(client, guard)
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert guard.token not in reply.headers["set-cookie"]
    assert reply.headers["location"] == "/"
    assert "What is the mean?" in (await client.get("/")).text


async def test_the_token_leaves_the_address_and_the_rest_of_it_stays(client, guard):
    reply = await client.get(f"/runs/a%2F/?q=x&token={guard.token}")
    assert reply.headers["location"] == "/runs/a%2F/?q=x"
    reply = await client.get(f"http://127.0.0.1:8123//evil.example/?token={guard.token}")
    assert reply.headers["location"] == "/evil.example/"


@pytest.mark.parametrize("host", ["evil.example:8123", "127.0.0.1", "127.0.0.1:9", "127.0.0.1.evil.example:8123", ""])
async def test_a_foreign_name_that_leads_here_is_refused(client, guard, host):
    await let_in(client, guard)
    assert (await client.get("/", headers={"host": host})).status_code == 421
    assert (await client.get("/", headers={"host": "LocalHost:8123"})).status_code in (200, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1:8123"])
async def test_a_script_of_another_site_is_refused_whatever_it_brings(client, guard, origin):
    await let_in(client, guard)
    assert (await client.get(f"/?token={guard.token}", headers={"origin": origin})).status_code == 403
    assert (await client.get("/", headers={"origin": "http://127.0.0.1:8123"})).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_nothing_can_be_changed(client, guard, method):
    await let_in(client, guard)
    assert (await client.request(method, "/")).status_code == 405


async def test_every_answer_bears_the_policy(client, guard):
    await let_in(client, guard)
    for path in ("/", "/nope/", "/assets/view.js", "/library/"):
        headers = (await client.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_a_real_server_lets_in_by_the_address_it_prints_and_by_nothing_else(address, written):
    written.ended("one")
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    assert b"What is the mean?" in opener.open(address).read()
    assert b"accepted" in opener.open(address.partition("?")[0] + "runs/one/tasks/task/").read()
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(address.partition("?")[0])
    assert refused.value.code == 403
    refused.value.close()
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(address, headers={"Host": "evil.example"}))
    assert refused.value.code == 421
    refused.value.close()
