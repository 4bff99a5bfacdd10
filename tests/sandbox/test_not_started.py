"""A call that ran is told from one that did not start: the one is not made again, the other may be."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from habilis.config import SandboxSettings
from habilis.contract.runnable import Runnable
from habilis.core.errors import PlaceError
from habilis.core.ports import SandboxLimits
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.ownership import tenancy
from habilis.sandbox.ownership.custody import Custody, Use
from habilis.sandbox.ownership.workspace import Survey
from habilis.sandbox.processes.pipes import Ears
from habilis.sandbox.processes.process import exit_of

pytestmark = pytest.mark.sandbox
MakeTool = Callable[..., Runnable]


class _Blind(Custody):
    """Cannot look through the workspace once a call is over."""

    def leave_at_once(self, use: Use) -> Survey | None:
        super().leave_at_once(use)
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


async def test_a_workspace_that_cannot_be_looked_through_after_a_call_is_no_call_that_did_not_start(
    tool: MakeTool, workspace: Path
) -> None:
    host = ToolHost(SandboxSettings(warm=False))
    host._custody = _Blind()
    marks: list[bool] = []
    try:
        outcome = await host.call(CallSpec(tool("return OutputModel(value=7)"), {}, workspace, mark=marks.append))
    finally:
        await host.aclose()
    assert marks == [True], "it was made once"
    assert outcome.error is not None
    assert "it ran, but its working folder" in outcome.error.message


def test_what_cannot_be_given_back_after_a_call_is_the_places_failure(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="its owners cannot be put back"), tenancy._back(tmp_path):
        raise PermissionError(1, "Operation not permitted")


class _Full(bytearray):
    def __iadd__(self, other: object) -> _Full:  # type: ignore[override,misc]
        raise MemoryError


async def test_a_reply_that_there_was_no_memory_for_is_not_the_tools_failure(tmp_path: Path) -> None:
    (reply_out, reply), (printed_out, printed) = os.pipe(), os.pipe()
    for end in (reply_out, printed_out):
        os.set_blocking(end, False)
    ears = Ears(reply_out, printed_out, SandboxLimits())
    ears.reply = _Full()
    os.write(reply, b"{}")
    assert await ears.stopped == ""
    for end in (reply, printed):
        os.close(end)
    ears.close()
    with pytest.raises(MemoryError):
        exit_of(ears, 0, "", 0.0)
