"""How a source's requests say who asks. The secret's value stays in here and in the requests that need it."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from habilis.config import AuthSettings, key, tell_auth
from habilis.core.masker import MASKER

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Credentials:
    """What requests to `origins` carry, and to no other place. `name` is that of the environment variable."""

    name: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Names of headers and query parameters that carry the secret."""
        return (*self.headers, *self.query)

    def hush(self) -> Callable[[], None]:
        """Keep the secret out of what HTTP clients log, which is addresses; returns what ends that."""
        if not self.query:
            return lambda: None
        mask = _Mask()
        loggers = [logging.getLogger(name) for name in ("httpx", "httpx2")]
        for logger in loggers:
            logger.addFilter(mask)

        def end() -> None:
            for logger in loggers:
                logger.removeFilter(mask)

        return end


class _Mask(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = MASKER.text(record.getMessage()), None
        return True


NOBODY = Credentials()


def credentials(said: AuthSettings | None) -> Credentials | None:
    """What `said` makes of the secret's value; None where the variable is not set.

    Raises `UserError` for one that no header can carry.
    """
    if said is None:
        return NOBODY
    told = tell_auth(said.secret_env)
    value = told.strip() if told and said.scheme == "basic" else key(said.secret_env)
    if not value:
        return None
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    if said.header:
        headers[said.header] = value
    elif said.query:
        query[said.query] = value
    elif said.scheme == "basic":
        coded = base64.b64encode(value.encode("utf-8", "surrogateescape")).decode("ascii")
        headers["Authorization"] = f"Basic {coded}"
    else:
        headers["Authorization"] = f"Bearer {value}"
    return Credentials(said.secret_env, headers, query)


def hidden_names(said: AuthSettings | None) -> tuple[str, ...]:
    """Names of headers and query parameters that carry the secret, whether it is set or not."""
    return tuple(name for name in (said.header, said.query) if name) if said else ()


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address; two addresses of one origin may be sent the same secrets."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    return parts.scheme, parts.hostname or "", port or _PORTS.get(parts.scheme)
