"""A document as data: JSON, or else YAML, in which dates and words such as `off` stay text.

Run as a program it does so in a process of its own: a document of a few megabytes can take a YAML reader hours (numbers
in base 60, merged keys), all memory (anchors that stand for anchors), or its stack. It reads the text from standard
input and writes JSON, or one line that says what is wrong, and ends with 1 then. Imports PyYAML alone.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from typing import Any

MOST_PARTS, MOST_LEVELS = 1_000_000, 100
"""Values that a document may hold, each counted wherever an anchor repeats it, and how deep they may be nested."""
_MEMORY, _SECONDS = 2 << 30, 60


def parsed(raw: bytes) -> Any:
    """The document in `raw`. Raises ValueError, RecursionError and yaml.YAMLError for what is none."""
    text = raw.decode("utf-8-sig")
    if text.lstrip()[:1] in ("{", "["):
        try:
            tree = json.loads(text)
        except ValueError:
            if text.lstrip()[:1] == "{":
                raise
            tree = _of_yaml(text)
    else:
        tree = _of_yaml(text)
    measure(tree)
    return tree


def measure(tree: Any) -> None:
    """Raises ValueError for values that are too many, nested too deep, or hold themselves."""
    measured: dict[int, tuple[int, int]] = {}
    inside: set[int] = set()
    waiting = [(tree, False)]
    while waiting:
        node, done = waiting.pop()
        key = id(node)
        if not isinstance(node, (dict, list)) or (key in measured and not done):
            continue
        children = list(node.values() if isinstance(node, dict) else node)
        if not done and key in inside:
            raise ValueError("a part of it holds itself")
        if not done:
            inside.add(key)
            waiting.append((node, True))
            waiting += [(child, False) for child in children]
            continue
        inside.discard(key)
        sizes = [measured.get(id(child), (1, 0)) for child in children]
        parts, levels = 1 + sum(size for size, _ in sizes), 1 + max((level for _, level in sizes), default=0)
        if parts > MOST_PARTS or levels > MOST_LEVELS:
            raise ValueError(f"it holds more than {MOST_PARTS:,} values, or more than {MOST_LEVELS} levels of them")
        measured[key] = (parts, levels)


def _of_yaml(text: str) -> Any:
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """A safe loader that makes what JSON has, as YAML 1.2 reads it."""

    left_out = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in pairs if pair[0] not in left_out]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver(left_out[0], re.compile("true|True|TRUE|false|False|FALSE"), list("tTfF"))
    return yaml.load(text, Loader)


def _limit(kind: int, most: int) -> None:
    """Lower a limit of this process; one that is lower already stays."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def main() -> int:
    _limit(resource.RLIMIT_AS, _MEMORY)
    _limit(resource.RLIMIT_CPU, _SECONDS)
    try:
        said = json.dumps(parsed(sys.stdin.buffer.read()), default=str, skipkeys=True)
    except MemoryError:
        said = "it needs too much memory to be read"
    except Exception as error:  # whatever a reader comes to is this document's fault
        said = " ".join(str(error).split())[:200]
    else:
        sys.stdout.write(said)
        return 0
    sys.stdout.write(said)
    return 1


if __name__ == "__main__":
    sys.exit(main())
