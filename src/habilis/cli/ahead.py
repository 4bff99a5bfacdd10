"""What the rest of a task needs is imported while its first model request is under way."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from habilis.core.events import Event

SENT_S = 0.05
"""Seconds after which a request is on its way: what imports before holds it up."""
NEEDED = (
    "habilis.models.structured",
    "habilis.tool_calling.textcalls",
    "habilis.tool_calling.react",
    "habilis.tool_calling.narrator",
    "habilis.synthesis.comparing",
    "habilis.rules.refusing",
    "habilis.rules.settling",
    "habilis.grounding.founding",
    "habilis.curation.absorb",
)
"""What a task imports behind its first request, in this order and behind the checker of schemas, if all goes well."""


class LoadsAhead:
    """A sink that begins with the imports, on a thread of their own, behind the first request that it sees."""

    def __init__(self) -> None:
        self._begun = False

    def emit(self, event: Event) -> None:
        if event.kind == "model_call_started" and not self._begun:
            self._begun = True
            loop = asyncio.get_running_loop()
            loop.call_later(SENT_S, lambda: loop.run_in_executor(None, _load))


def _load() -> None:
    with contextlib.suppress(Exception):  # whoever needs it says so
        from habilis.schemas.checking import load

        load()
    for name in NEEDED:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
