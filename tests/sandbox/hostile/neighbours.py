"""What attempts on a warm host have in common: a call that waits beside them, and one that looks afterwards."""

from __future__ import annotations

import textwrap

from hostile.attack import Attack

REFUSED = r"(denied|crashed): .*([Nn]ot permitted|Permission denied|No such (file|process)|Read-only|cross-device)"
ANY = r"(output|crashed|bad_output|denied): "
NOTHING = r"output: \[\]$"
DONE = "\nreturn OutputModel(value=[])"
WAITING = """
import time
{first}
with open("own", "w") as own:
    own.write(str(os.getpid()))
os.rename("own", "sibling")
while not os.path.exists("go"):
    time.sleep(0.005)
{last}
return OutputModel(value="unharmed")
"""


def neighbour(first: str = "", last: str = "") -> str:
    """A call that waits in the same server while the attempt is made; `first` and `last` are what it does itself."""
    return WAITING.format(first=textwrap.dedent(first).strip(), last=textwrap.dedent(last).strip())


def warm(
    name: str,
    harm: str,
    told: str,
    source: str,
    *,
    after: str = "",
    beside: str = "",
    known: str = "",
    by_chance: tuple[str, ...] = (),
    settings: dict[str, object] | None = None,
    timeout_s: float = 20.0,
) -> Attack:
    """`known`: why it gets through at either level."""
    return Attack(
        name,
        harm,
        told,
        textwrap.dedent(source).strip("\n") + DONE,
        settings=settings or {},
        timeout_s=timeout_s,
        known={"bubblewrap": known, "landlock": known} if known else {},
        by_chance=by_chance,
        beside=beside or neighbour(),
        after=textwrap.dedent(after).strip("\n") + DONE,
    )
