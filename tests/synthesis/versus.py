"""One version of a tool against another, as a replacement is tried."""

from __future__ import annotations

from typing import Any

from habilis.contract.runnable import Runnable
from habilis.prompts import Prompts
from habilis.synthesis.comparing import Versions, compare
from habilis.synthesis.real_calls import evidence_on
from habilis.synthesis.replay import Replayer

from ..toolshop import Shop, tool_source

NONE = "'dependencies': []"


async def compared(shop: Shop, shape: tuple[str, str, str], old: tuple[str, ...], new: str, calls: list[Any]) -> str:
    """What speaks against `new`, or is lacking for it; empty when it may take the place of the old version."""
    fields, result, body = shape
    tool = await shop.has(tool_source("t", body=body.format(*old), fields=fields, result=result, meta=NONE), "t")
    records = [await shop.called(tool, call, "success", f"c{n}") for n, call in enumerate(calls)]
    source = tool_source("t", body=new, fields=fields, result=result, meta=NONE)
    module = shop.workspace.parent / "new.py"
    module.write_text(source, encoding="utf-8")
    candidate, prompts = Runnable("t", module), Prompts()
    replayer: Any = Replayer(shop.host, shop.library, None, prompts)  # type: ignore[arg-type]
    scratch = shop.workspace.parent / "scratch"
    report = await replayer.replay(candidate, tool.runnable, records, scratch / "records")
    assert report.ok, "a version that fails recorded calls tells nothing of the comparison"
    known = evidence_on(tool, records, source, (), None)
    trial = await compare(Versions(tool, candidate), known, replayer, shop.library, scratch / "made")
    return trial.against or trial.lacking(report.agreed)
