"""The lines of a conversation: typed at a terminal with a history, or read from a pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from habilis.config import cache_dir
from habilis.core.errors import UserError

MAX_LINE_BYTES = 1 << 20
KEPT_LINES = 1_000
INTERRUPTED = 130


class Leave(Exception):
    """The conversation ends, with an exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def lines_of(prompt: Callable[[], str], *, person: bool) -> Iterator[str]:
    """What is typed behind `prompt`, or the lines of standard input, until they end.

    Raises `Leave` for Ctrl-C (at a prompt: twice in a row), `UserError` for a line that cannot be read.
    """
    return _typed(prompt) if person else _piped()


def _typed(prompt: Callable[[], str]) -> Iterator[str]:
    interrupted = False
    with _history():
        while True:
            try:
                line = _whole(prompt())
            except EOFError:
                print(file=sys.stderr)
                return
            except KeyboardInterrupt:
                print(file=sys.stderr)
                if interrupted:
                    raise Leave(INTERRUPTED) from None
                print("Ctrl-C again, or Ctrl-D, ends the conversation", file=sys.stderr)
                interrupted = True
                continue
            interrupted = False
            yield line


def _whole(prompt: str) -> str:
    """One line, and those that it goes on in."""
    text = _line(prompt)
    while text.endswith("\\"):
        text = f"{text[:-1]}\n{_line('… ')}"
    return text


def _line(prompt: str) -> str:
    if sys.stdout.isatty():
        return input(prompt)  # with readline, where that is loaded
    print(prompt, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


@contextlib.contextmanager
def _history() -> Iterator[None]:
    """Lines typed in earlier conversations, for the arrow keys, where Python has readline."""
    try:
        import readline
    except ImportError:
        yield
        return
    path = cache_dir() / "chat-history"
    readline.set_history_length(KEPT_LINES)
    with contextlib.suppress(OSError):
        readline.read_history_file(path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            readline.write_history_file(path)


def _piped() -> Iterator[str]:
    number = 0
    if sys.stdin is None:
        raise UserError("there is no standard input to read questions from")
    while True:
        number += 1
        try:
            raw = sys.stdin.buffer.readline(MAX_LINE_BYTES + 1)
        except KeyboardInterrupt:
            raise Leave(INTERRUPTED) from None
        if not raw:
            return
        if len(raw) > MAX_LINE_BYTES:
            raise UserError(f"line {number} of standard input is larger than 1 MB; give long text with --file")
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n")
        except UnicodeDecodeError as error:
            raise UserError(f"line {number} of standard input is not UTF-8 (byte {error.start})") from None
