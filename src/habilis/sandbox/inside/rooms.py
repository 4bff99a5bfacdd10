"""Runs inside the sandbox, in the server: clears away what calls leave in the temporary folders that they share."""

import os
import stat

MOST_LEFT, DEEPEST = 2_000, 20


class Rooms:
    """The temporary folders that all calls share. Mounts may lie below them: nothing that was there at the start, and
    nothing of another file system, is touched."""

    def __init__(self, folders: "list[str]") -> None:
        self.roots: list[tuple[str, int]] = []
        self.ours: set[str] = set()
        self.modes: dict[str, int] = {}
        for folder in folders:
            device = os.lstat(folder).st_dev
            try:
                self.note(folder, device)
            except PermissionError:  # not open to calls either
                continue
            self.roots.append((folder, device))

    def note(self, folder: str, device: int) -> None:
        self.modes[folder] = os.lstat(folder).st_mode
        with os.scandir(folder) as found:
            for entry in found:
                self.ours.add(entry.path)
                about = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(about.st_mode) and about.st_dev == device:
                    self.note(entry.path, device)

    def clear(self) -> bool:
        """Remove all that calls left; False when it is too much, or does not go."""
        self.budget = MOST_LEFT
        try:
            self.open_again()
            for folder, device in self.roots:
                self.empty(folder, device, DEEPEST)
        except (OSError, OverflowError):
            return False
        return True

    def open_again(self) -> None:
        """Give the folders that were there their modes back: as an ordinary user, calls own them."""
        for folder, mode in self.modes.items():
            now = os.lstat(folder).st_mode
            if not stat.S_ISDIR(now):
                raise NotADirectoryError(folder)
            if now != mode:
                os.chmod(folder, stat.S_IMODE(mode))  # noqa: PTH101

    def empty(self, folder: str, device: int, depth: int) -> None:
        with os.scandir(folder) as found:
            for entry in found:
                about = entry.stat(follow_symlinks=False)
                if about.st_dev != device:
                    continue
                self.budget -= entry.path not in self.ours
                if self.budget < 0 or depth == 0:
                    raise OverflowError
                if stat.S_ISDIR(about.st_mode):
                    if entry.path not in self.ours:
                        os.chmod(entry.path, stat.S_IRWXU)  # noqa: PTH101
                    self.empty(entry.path, device, depth - 1)
                    if entry.path not in self.ours:
                        os.rmdir(entry.path)  # noqa: PTH106
                elif entry.path not in self.ours:
                    os.unlink(entry.path)  # noqa: PTH108
