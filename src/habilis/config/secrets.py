"""Which of the values that settings and the environment hold are secrets; the masker is told of them all at once."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from habilis.config.hiding import KEY_NAME, KEY_VALUE, flagged
from habilis.config.models import ROLES
from habilis.config.variables import environment, secret
from habilis.core.errors import UserError
from habilis.core.masker import MASKER

if TYPE_CHECKING:
    from habilis.config.settings import Settings

_USER = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://([^/?#\s]*)@")
_HEADER = re.compile(r"(?i)auth|cookie|key|token|secret|passw|credential")
_SCHEME = re.compile(r"(?i)(basic|bearer|token|digest|apikey)\s+(\S.*)")
_WORDS = re.compile(r"[A-Za-z]+([ ._/:,@+-]+[A-Za-z]+)*|/.*|[a-z]+://[^@\s]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_OTLP_HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
"""`name=value,name=value`, with the key of a collector perhaps."""
_ALWAYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "TAVILY_API_KEY", "PGPASSWORD")


def tell_masker(settings: Settings) -> None:
    """Have every secret masked that `settings` name or hold, and every password in an address of the environment."""
    roles = [getattr(settings.models, role) for role in ROLES]
    names = {*_ALWAYS, *(role.api_key_env for role in roles)}
    for name in sorted(name for name in names if name and _VARIABLE.fullmatch(name)):
        secret(name)
    granted = set(settings.sandbox.env_allow)
    for source in settings.sources.values():
        if source.auth is not None:
            tell_auth(source.auth.secret_env)
        granted |= {*(source.mcp.env if source.mcp else ())}
    everything = environment()
    tell_granted({name: everything[name] for name in sorted(granted) if name in everything})
    for dotted, value in _held(settings.model_dump(mode="json")):
        MASKER.add(dotted, value)
    for pair in everything.get(_OTLP_HEADERS, "").split(","):
        MASKER.add(_OTLP_HEADERS, unquote(pair.partition("=")[2].strip()))
    for name, value in everything.items():
        for part in users_of(value) if name != "HABILIS_STORE" else ():
            MASKER.add(name, part)


def tell_auth(name: str) -> str | None:
    """The secret of a source, told with the password alone: a service may repeat that by itself."""
    value = secret(name)
    if value and ":" in value:
        MASKER.add(f"{name} (password)", value.partition(":")[2].strip())
    return value


def tell_granted(values: Mapping[str, str]) -> None:
    """Have the values of variables masked everywhere that a tool or a program is given.

    One that is plainly no secret (words, a path, an address) is masked in the results of those who have it, and there
    alone: `TZ=Europe/Berlin` must not take a city out of every record.
    """
    for name, value in values.items():
        if KEY_NAME.search(name) or not _WORDS.fullmatch(value.strip()):
            MASKER.add(name, value)


def key(name: str | None) -> str | None:
    """The key in the variable `name` as a request carries it, white space round it left out; None when unset.

    Raises `UserError`, which does not show it, for one that cannot be the value of a header (RFC 9110 §5.5).
    """
    value = (secret(name) or "").strip()
    odd = next((char for char in value if not " " <= char <= "~"), None)
    if odd is not None:
        what = f"a control character (U+{ord(odd):04X})" if ord(odd) < 0xA0 else f"the character U+{ord(odd):04X}"
        if odd in "‘’“”«»„":
            what = f"a typographic quotation mark (U+{ord(odd):04X})"
        raise UserError(f"the variable {name} holds {what}, which no key can; copy the key into it again")
    return value or None


def users_of(text: str) -> Iterator[str]:
    """What must not be shown of an address with a user: `user:password` and the password, else the user alone."""
    for user in _USER.findall(text):
        name, colon, password = user.partition(":")
        plain = {unquote(password), password} if password else {unquote(name), name}
        yield from sorted({*plain, *((user, unquote(user)) if colon else ())})


def _held(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Secrets that stand in settings themselves, each with its dotted key."""
    for name, value in tree.items():
        dotted = f"{before}{name}"
        if isinstance(value, Mapping):
            yield from _headers(value, dotted) if name == "headers" else _held(value, f"{dotted}.")
        elif dotted == "store":  # of a database the user's name alone is no secret
            yield from ((dotted, part) for part in users_of(value or "") if ":" in _USER.findall(value)[0])
        elif isinstance(value, str):
            yield from ((dotted, part) for part in users_of(value))
            misplaced = name.endswith("_env") and not _VARIABLE.fullmatch(value)
            if misplaced or (KEY_NAME.search(name) and not name.endswith("_env")) or KEY_VALUE.search(value):
                yield dotted, value
        elif isinstance(value, list):
            yield from ((dotted, part) for item in value if isinstance(item, str) for part in users_of(item))
            yield from ((dotted, part) for part in flagged(value))
            yield from _held(
                {str(at): item for at, item in enumerate(value) if isinstance(item, Mapping)}, dotted + "."
            )


def _headers(headers: Mapping[str, Any], dotted: str) -> Iterator[tuple[str, str]]:
    for name, value in headers.items():
        if not isinstance(value, str) or not (_HEADER.search(name) or KEY_VALUE.search(value)):
            continue
        yield f"{dotted}.{name}", value
        scheme = _SCHEME.fullmatch(value.strip())
        if scheme is None:
            continue
        yield f"{dotted}.{name}", scheme[2]
        try:
            user = base64.b64decode(scheme[2], validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if scheme[1].lower() == "basic" and ":" in user:
            yield from ((f"{dotted}.{name}", part) for part in (user, user.partition(":")[2]))
