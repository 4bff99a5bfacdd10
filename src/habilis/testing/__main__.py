"""Serve the offline model on loopback until stopped: `python -m habilis.testing [PORT] [plain_text] [FAULT …]`.

With `plain_text` the model knows nothing of functions.
"""

from __future__ import annotations

import sys
from typing import Any, get_args

from habilis.demo import reply
from habilis.testing.faults import FaultKind
from habilis.testing.reacting import in_plain_text
from habilis.testing.server import ScriptedServer

PLAIN_TEXT = "plain_text"


def main() -> None:
    """Start, say where, wait."""
    port, *kinds = sys.argv[1:] or ["0"]
    plain_text = PLAIN_TEXT in kinds
    kinds = [kind for kind in kinds if kind != PLAIN_TEXT]
    wrong = [kind for kind in kinds if kind not in get_args(FaultKind)]
    if wrong or not port.isdigit():
        usage = f"usage: python -m habilis.testing [PORT] [{PLAIN_TEXT}] [FAULT …]"
        sys.exit(f"{usage}; faults: {', '.join(get_args(FaultKind))}")
    rows: list[Any] = kinds
    server = ScriptedServer(in_plain_text(reply) if plain_text else None, faults=rows, port=int(port)).start()
    print(f"OPENAI_BASE_URL={server.base_url}", flush=True)
    try:
        server.closing.wait()
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()
