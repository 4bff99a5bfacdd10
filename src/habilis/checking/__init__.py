"""Is a run, a conversation, a library whole? What one file lost is put back from another that says the same.

`runs check` asks for all of it, each resume for what it builds on. Each finding names a file, and a line where it is
one line; nothing is taken away before a copy lies in `damaged/`.
"""

from habilis.checking.damages import Damage
from habilis.checking.libraries import check_library
from habilis.checking.runs import check_run, mend_run, mend_task, mend_thread

__all__ = ["Damage", "check_library", "check_run", "mend_run", "mend_task", "mend_thread"]
