"""A model server on loopback that fails on demand: chat completions, and Anthropic's messages."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from habilis.testing import messages_api
from habilis.testing.completions import as_call, chunks_of, completion_of, read_messages, stopped, with_fault
from habilis.testing.faults import STATUS, Faults, Schedule, SeenRequest, when
from habilis.testing.service import QuietHandler, QuietServer

Answerer = Callable[[list[BaseMessage], list[dict[str, Any]], dict[str, Any] | None], AIMessage]
"""From messages, tools (OpenAI function schemas) and response format to the reply."""


class ScriptedServer:
    """A model server on loopback, in threads of its own. Use it as a context manager.

    It speaks chat completions below `base_url`, and Anthropic's messages below `anthropic_url`, whose rules it checks.
    `faults`: one fault (or None) per request in order, or a schedule. `refuse`: forms that it answers with 400, of
    `json_schema`, `json_mode`, `function_calling`, `tools`, `stop`. `key`: when set, any other key gets 401. Latency is
    in seconds, per request and per token of the reply, counted from when the request came in: what it takes to find
    the reply is part of it. What was asked stands in `requests`.
    """

    def __init__(
        self,
        answer: Answerer | None = None,
        *,
        faults: Faults = (),
        refuse: Iterable[str] = (),
        usage: bool = True,
        key: str | None = None,
        models: Sequence[str] = ("scripted",),
        latency_s: float = 0.0,
        latency_per_token_s: float = 0.0,
        port: int = 0,
    ) -> None:
        self.answer = answer or _offline
        self.refuse = set(refuse)
        self.usage = usage
        self.key = key
        self.models = tuple(models)
        self.latency_s = latency_s
        self.latency_per_token_s = latency_per_token_s
        self.requests: list[SeenRequest] = []
        self.closing = threading.Event()
        self.news = threading.Condition()
        self.choose: Schedule = faults if callable(faults) else when(lambda _: True, faults)
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.scripted = self
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def anthropic_url(self) -> str:
        return self.base_url.removesuffix("/v1")

    @property
    def finished(self) -> int:
        """How many chat requests were answered in full."""
        return sum(seen.finished for seen in self.requests)

    def wait_for(self, count: int, timeout_s: float = 10.0) -> bool:
        """Block until `count` chat requests have arrived; false if they did not in time."""
        with self.news:
            return self.news.wait_for(lambda: len(self.requests) >= count, timeout_s)

    def repeated(self) -> list[SeenRequest]:
        """Requests that were answered in full although an equal one had been before: paid twice."""
        seen: set[str] = set()
        again: list[SeenRequest] = []
        for request in [request for request in self.requests if request.finished]:
            key = json.dumps(request.body, sort_keys=True)
            if key in seen:
                again.append(request)
            seen.add(key)
        return again

    def start(self) -> ScriptedServer:
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop; whoever hangs is let go."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def __enter__(self) -> ScriptedServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


def _offline(messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
    from habilis.demo import reply

    return reply(messages, tools, form)


class _Server(QuietServer):
    scripted: ScriptedServer


class _Handler(QuietHandler):
    wbufsize = -1
    server: _Server
    came: float
    """When the request came in, on the monotonic clock."""

    def do_GET(self) -> None:
        scripted = self.server.scripted
        if self.path.rstrip("/").endswith("/models"):
            rows = [{"id": name, "object": "model", "owned_by": "habilis"} for name in scripted.models]
            return self._send(200, {"object": "list", "data": rows})
        return self._send(404, _error("no such path", "not_found"))

    def do_POST(self) -> None:
        scripted, self.came = self.server.scripted, time.monotonic()
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.loads(raw)
        if "prompt" in body:  # a text to go on with, in place of a conversation
            body["messages"] = [{"role": "user", "content": body["prompt"]}]
        with scripted.news:
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = SeenRequest(len(scripted.requests), self.path, body, headers)
            scripted.requests.append(seen)
            seen.fault = scripted.choose(seen)
            scripted.news.notify_all()
        if not self.path.endswith(("/completions", "/v1/messages")):
            return self._refuse(seen, 404, "no such path")
        said = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        if scripted.key and scripted.key not in (said, self._anthropic and self.headers.get("x-api-key")):
            return self._refuse(seen, 401, "incorrect API key provided")
        wrong = messages_api.unfit(seen) if self._anthropic else None
        if wrong:
            return self._refuse(seen, *wrong)
        if seen.mode in scripted.refuse:
            return self._refuse(seen, 400, f"{seen.mode} is not supported")
        if "tools" in scripted.refuse and body.get("tools"):
            return self._refuse(seen, 400, "tools is not supported")
        if "stop" in scripted.refuse and (body.get("stop") or body.get("stop_sequences")):
            return self._refuse(seen, 400, "stop is not supported")
        return self._answer(seen)

    def _answer(self, seen: SeenRequest) -> None:
        scripted, fault = self.server.scripted, seen.fault
        kind = fault.kind if fault else None
        if kind == "hang":
            scripted.closing.wait()
            return self.drop()
        if kind == "drop":
            return self.drop()
        if kind == "overloaded_stream" and not seen.body.get("stream"):
            return self._refuse(seen, 529, "Overloaded")
        if fault and (fault.status or kind in STATUS):
            return self._refuse(
                seen, fault.status or STATUS[fault.kind], fault.text or f"scripted {kind}", fault.retry_after
            )
        body = seen.body
        if self._anthropic:
            messages, tools, form = messages_api.read(body)
        else:
            messages, tools, form = (
                read_messages(body["messages"]),
                body.get("tools") or [],
                body.get("response_format"),
            )
        message = stopped(scripted.answer(messages, tools, form), body.get("stop") or body.get("stop_sequences") or ())
        if seen.mode == "function_calling" and not message.tool_calls:
            message = as_call(message, tools)
        message = with_fault(message, tools, kind)
        completion = (messages_api.message_of if self._anthropic else completion_of)(seen, message, kind)
        usage = completion["usage"]
        spoken = usage["output_tokens" if self._anthropic else "completion_tokens"]
        speaking_s = scripted.latency_per_token_s * spoken
        took = time.monotonic() - self.came
        scripted.closing.wait(max(0.0, scripted.latency_s + (0.0 if body.get("stream") else speaking_s) - took))
        if not scripted.usage or kind == "no_usage":
            del completion["usage"]
        if kind == "malformed_json":
            return self._send(200, None, b'{"choices": [{"message": {"content": "half a bo')
        # Counted before the last byte leaves: a client that was killed right behind it had its answer.
        seen.status, seen.finished = 200, kind != "drop_body"
        if seen.body.get("stream"):
            return self._stream(seen, completion, speaking_s, cut=kind == "drop_body")
        return self._send(200, completion, cut=kind == "drop_body")

    def _refuse(self, seen: SeenRequest, status: int, text: str, retry_after: float | None = None) -> None:
        seen.status = status
        code = "insufficient_quota" if status == 402 else f"scripted_{status}"
        headers = {"retry-after": f"{retry_after:g}"} if retry_after is not None else {}
        body = messages_api.error_body(status, text) if self._anthropic else _error(text, code)
        self._send(status, body, headers=headers)

    @property
    def _anthropic(self) -> bool:
        return self.path.endswith("/messages")

    def _send(
        self,
        status: int,
        body: Any,
        raw: bytes | None = None,
        *,
        headers: dict[str, str] | None = None,
        cut: bool = False,
    ) -> None:
        data = raw if raw is not None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.wfile.flush()
        if cut:
            self.drop()

    def _stream(self, seen: SeenRequest, completion: dict[str, Any], speaking_s: float, *, cut: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if self._anthropic:
            events = list(messages_api.events_of(completion))
        else:
            events = [b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks_of(seen, completion)]
            events.append(b"data: [DONE]\n\n")
        if seen.fault and seen.fault.kind == "overloaded_stream":
            events = [*events[: len(events) // 2], messages_api.error_event(529, "Overloaded")]
            seen.finished = False
        for data in events[: len(events) // 2] if cut else events:
            self.server.scripted.closing.wait(speaking_s / len(events))
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        if cut:
            return self.drop()
        self.wfile.write(b"0\r\n\r\n")
        return self.wfile.flush()


def _error(text: str, code: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "scripted", "code": code}}
