"""What must not be handed on with a library: secrets and traces of people in recorded calls.

Rules look at text, wherever in a record it stands, and put a word in its place: `[token]`, `[e-mail]`. Equal text is
always replaced alike, in arguments, outputs and files, so that many a call can still be repeated. What is encoded,
compressed or in a picture is not seen.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from habilis.config import ExchangeSettings
from habilis.contract.records import RecordedCall
from habilis.core.masker import MASKER
from habilis.core.types import Traffic

Change = Callable[[str], str]
Contents = Callable[[str], bytes | None]
"""From the digest of a recorded file to its content."""

_SECRET_NAME = (
    r"(?:api[_-]?key|secret(?:[_-]?key)?|(?:access|auth|refresh|api|session)[_-]?token|private[_-]?key|passw(?:or)?d"
    r"|passwd|passphrase|pwd|credentials?)"
)
_NAMED = rf"(?<![a-z0-9]){_SECRET_NAME}[\"']?\s*[:=]\s*[\"']?"
_WORD = r"\[(?:secret|token|password|private key|e-mail|redacted)\]"
_TOKENS = (
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}",
    r"\b[spr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"\bgh[opsur]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bhf_[A-Za-z0-9]{20,}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{30,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
)
_CERTAIN = (
    (re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|\Z)"), "[private key]"),
    (re.compile("|".join(_TOKENS)), "[token]"),
)
"""What can hardly be anything else."""
_LIKELY = (
    (re.compile(r"(?<=://)[^/@\s:]+:[^/@\s]+@"), "[password]@"),
    (re.compile(r"(?i)\b(authorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token)\s+)?)[^\s\"',;]+"), r"\1[token]"),
    (re.compile(r"(?i)\b(bearer\s+)(?=[^\s\"',;]*\d)[A-Za-z0-9._~+/=-]{16,}"), r"\1[token]"),
    (re.compile(rf"(?i)({_NAMED})(?!{_WORD})[^\s\"',;&}}\])]{{4,}}"), r"\1[secret]"),
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}(?![\w-])")
_HOMES = (
    (re.compile(r"(?<![\w./-])/(home|Users)/(?!user(?![\w.-]))[^/\s\"'<>|:,;)\]}]+"), r"/\1/user"),
    (re.compile(r"(?i)(?<![a-z0-9])([a-z]:\\Users\\)(?!user(?![\w.-]))[^\\/\s\"'<>|:,;)\]}]+"), r"\1user"),
)
_SECRET_KEY = re.compile(rf"(?i)(^|[_\-.]){_SECRET_NAME}s?$|^authorization$")
_RULES: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "secrets": (*_CERTAIN, *_LIKELY),
    "emails": ((_EMAIL, "[e-mail]"),),
    "home_paths": _HOMES,
}


class Redaction:
    """The rules in force. `rules` names them, patterns of the user's own included (`patterns`)."""

    def __init__(self, settings: ExchangeSettings) -> None:
        self.rules: tuple[str, ...] = (*settings.redact, *(("patterns",) if settings.redact_patterns else ()))
        own = tuple((re.compile(pattern), "[redacted]") for pattern in settings.redact_patterns)
        self._table = [(rule, own if rule == "patterns" else _RULES[rule]) for rule in self.rules]

    def text(self, text: str, hit: set[str] | None = None) -> str:
        """`text` without what the rules name; the rules that took something out are added to `hit`."""
        for rule, replacements in self._table:
            before = text
            for pattern, word in replacements:
                text = pattern.sub(word, text)
            if text != before and hit is not None:
                hit.add(rule)
        return text

    def value(self, value: Any, hit: set[str]) -> Any:
        """A JSON value without it, in keys too; what stands under the name of a secret goes as a whole."""
        if isinstance(value, str):
            return self.text(value, hit)
        if isinstance(value, Mapping):
            return {self.text(str(key), hit): self._under(str(key), inner, hit) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item, hit) for item in value]
        return value

    def record(self, call: RecordedCall, content: Contents) -> tuple[RecordedCall, dict[str, bytes]]:
        """`call` as it may be handed on, marked with the rules that changed it, and its files by the name of each.

        A file that holds something and is no text is left out; the call cannot be repeated then. What passed between it
        and granted hosts is never handed on: whole answers of services, which no rule can look through.
        """
        if call.traffic is not None and call.traffic.digest:
            call = call.model_copy(update={"traffic": Traffic(lost="what it exchanged with hosts is not handed on")})
        hit: set[str] = set()
        parts = {name: getattr(call, name) for name in ("call_id", "arguments", "output", "granted", "refused")}
        clean = {name: self.value(part, hit) for name, part in parts.items()}
        error = call.error and call.error.model_validate(self.value(call.error.model_dump(), hit))
        files, why_not = self._files(call.files, content, hit)
        why_not = self.text(call.why_not) if call.why_not else why_not
        if not hit:
            same = call if why_not == call.why_not else call.model_copy(update={"why_not": why_not})
            return same, files
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        update = {"files": digests, "error": error, "why_not": why_not, "redacted": tuple(sorted(hit))}
        return RecordedCall.model_validate({**call.model_dump(), **clean, **update}), files

    def secrets_in(self, source: str) -> list[str]:
        """Each thing in a source that can hardly be anything but a secret, by its line; where that is off, those alone
        that this process was told of."""
        text = source.encode("utf-8", "replace")
        if MASKER.sees(text):
            lines = enumerate(text.split(b"\n"), 1)
            return [f"line {number}: a secret of yours" for number, line in lines if MASKER.sees(line)] or ["a secret"]
        if "secrets" not in self.rules:
            return []
        found = ((m.start(), word) for pattern, word in _CERTAIN for m in pattern.finditer(source))
        return [f"line {source.count(chr(10), 0, start) + 1}: {word.strip('[]')}" for start, word in sorted(found)]

    def _under(self, key: str, value: Any, hit: set[str]) -> Any:
        secret = "secrets" in self.rules and _SECRET_KEY.search(key) is not None
        if secret and value not in (None, "", "[secret]") and not isinstance(value, (bool, Mapping, list, tuple)):
            hit.add("secrets")
            return "[secret]"
        return self.value(value, hit)

    def _files(self, files: Mapping[str, str], content: Contents, hit: set[str]) -> tuple[dict[str, bytes], str | None]:
        clean: dict[str, bytes] = {}
        why_not = None
        for name, digest in files.items():
            data = content(digest)
            if data is None:
                why_not = "its files were not there any more"
                continue
            told = self._file(data, hit)
            if told is None:
                why_not = "a file of it was left out, since it may hold what is not to be handed on"
            else:
                clean[self.text(name, hit)] = told
        return clean, why_not

    def _file(self, data: bytes, hit: set[str]) -> bytes | None:
        """The content of a file without it; None where it is no text, and something is in it."""
        for coding in ("utf-16",) if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ("utf-8",):
            try:
                text = data.decode(coding)
            except UnicodeDecodeError:
                continue
            clean = self.text(text, hit)
            return data if clean == text else clean.encode(coding)
        found: set[str] = set()
        self.text(data.decode("latin-1"), found)
        hit |= found
        return None if found else data


def told(rules: Sequence[str]) -> str:
    """The rules in words."""
    return ", ".join(rule.replace("_", " ") for rule in rules) or "none"
