"""Serve the offline model on loopback until stopped: `python -m habilis.testing [PORT] [FAULT …]`."""

from __future__ import annotations

import sys
from typing import Any, get_args

from habilis.testing.faults import FaultKind
from habilis.testing.server import ScriptedServer


def main() -> None:
    """Start, say where, wait."""
    port, *kinds = sys.argv[1:] or ["0"]
    wrong = [kind for kind in kinds if kind not in get_args(FaultKind)]
    if wrong or not port.isdigit():
        sys.exit(f"usage: python -m habilis.testing [PORT] [FAULT …]; faults: {', '.join(get_args(FaultKind))}")
    rows: list[Any] = kinds
    server = ScriptedServer(faults=rows, port=int(port)).start()
    print(f"OPENAI_BASE_URL={server.base_url}", flush=True)
    try:
        server.closing.wait()
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()
