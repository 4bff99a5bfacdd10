"""What a parser says for want of memory is no fault of the code that it was given."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import os, resource
from habilis.core.errors import PlaceError
from habilis.core.parsing import syntax_tree
try:
    syntax_tree("(" * 100000)
except PlaceError:
    raise SystemExit("blamed on the place")
except (SyntaxError, MemoryError, RecursionError):
    pass
source = "x = [1, 2, 3]\\n" * 200_000
most = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    syntax_tree(source)
except PlaceError as error:
    print(error)
"""


def test_code_that_cannot_be_parsed_for_want_of_memory_is_not_called_wrong() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert "free memory on this machine" in done.stdout, done.stderr
