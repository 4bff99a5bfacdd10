"""Runs inside the sandbox, beside the tool: every byte that the tool says goes to the door, and back.

    relay.py DESCRIPTOR SOCKET      what `confine` has made, the path of the door

The descriptor is a listening loopback port, where the sandbox has a loopback of its own. Where it has none it is the
way by which a filter of seccomp comes: then the tool makes no socket by itself; each call for one is answered here,
with a socket that is connected to us already. So there is no port that another program could find.

It decides nothing: what may pass is up to the proxy at the other end of the door. One thread, so that it counts as one
process; it ends with the sandbox. Imports the standard library alone. Source: seccomp_unotify(2).
"""

import errno
import select
import selectors
import socket
import struct
import sys
import time

BLOCK = 1 << 16
MOST = 400
"""Connections at once: beyond it they wait in the queue of the port, or are not given."""
DOOR_S = 5.0
BREATH_S = 0.02
RECEIVE, ANSWER, ADD = 0xC0502100, 0xC0182101, 0x40182103
"""Requests of ioctl(2): the next call, how it ends, and a descriptor for whoever made it, by which it ends, too."""
ADD_AND_END = 2


class Port:
    """A listening port of the tool's loopback. Whoever comes when there is no room waits in its queue."""

    waits = True

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        listener.setblocking(False)

    def fileno(self) -> int:
        return self._listener.fileno()

    def accept(self, room: bool) -> socket.socket:
        """The next connection. Raises OSError."""
        return self._listener.accept()[0]


class Calls:
    """The tool's calls for sockets, as a filter of seccomp hands them on. Without room none is given."""

    waits = False

    def __init__(self, way: socket.socket) -> None:
        import fcntl

        self._ioctl = fcntl.ioctl
        self._filter = socket.recv_fds(way, 1, 1)[1][0]
        self._poll = select.poll()
        self._poll.register(self._filter, select.POLLIN)
        way.close()

    def fileno(self) -> int:
        return self._filter

    def accept(self, room: bool) -> socket.socket:
        """Answer the next call; our end of what the tool got. Raises OSError when it got nothing."""
        waiting, left = self._waiting()
        if not left:
            sys.exit(0)
        if not waiting:  # whoever called has gone
            raise BlockingIOError
        call = bytearray(80)
        self._ioctl(self._filter, RECEIVE, call)
        number, kind = struct.unpack_from("=Q", call)[0], struct.unpack_from("=Q", call, 40)[0]
        try:
            if not room:
                raise OSError(errno.EMFILE, "too many connections")
            ours, theirs = pair()
        except OSError as error:
            self._refuse(number, error)
            raise
        with theirs:
            theirs.setblocking(not kind & socket.SOCK_NONBLOCK)
            gift = struct.pack("=QIIII", number, ADD_AND_END, theirs.fileno(), 0, kind & socket.SOCK_CLOEXEC)
            try:
                self._ioctl(self._filter, ADD, bytearray(gift))
            except OSError as error:  # it has too many open files, or is gone
                ours.close()
                self._refuse(number, error)
                raise
        return ours

    def _waiting(self) -> "tuple[bool, bool]":
        """Whether a call waits, and whether anyone is left who could call."""
        events = sum(event for _, event in self._poll.poll(0))
        return bool(events & select.POLLIN), not events & select.POLLHUP

    def _refuse(self, number: int, error: OSError) -> None:
        try:
            self._ioctl(self._filter, ANSWER, bytearray(struct.pack("=QqiI", number, 0, -(error.errno or 1), 0)))
        except OSError:
            return


def pair() -> "tuple[socket.socket, socket.socket]":
    """Both ends of a TCP connection of ours, whose port is open no longer than that takes. Raises OSError."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        listener.settimeout(DOOR_S)
        theirs = socket.socket()
        try:
            theirs.settimeout(DOOR_S)
            theirs.connect(listener.getsockname())
            return other_end(listener, theirs), theirs
        except BaseException:
            theirs.close()
            raise


def other_end(listener: socket.socket, theirs: socket.socket) -> socket.socket:
    """The connection that `theirs` has made to `listener`; whoever else came is sent away."""
    while True:
        ours, address = listener.accept()
        if address == theirs.getsockname():
            return ours
        ours.close()


class End:
    """One side of a connection. `out` is what waits to be written to it; `heard` until it has nothing more to say;
    `dead` when writing to it failed: what comes for it is thrown away, and a door that is dead may still answer."""

    def __init__(self, sock: socket.socket, of_tool: bool) -> None:
        self.sock, self.of_tool = sock, of_tool
        self.out = bytearray()
        self.heard = True
        self.dead = self.told_end = False
        self.other = self

    def events(self) -> int:
        wanted = selectors.EVENT_READ if self.heard and not self.other.out else 0
        return wanted | (selectors.EVENT_WRITE if self.out else 0)

    def read(self) -> None:
        """Take what came, for the other side."""
        try:
            data = self.sock.recv(BLOCK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.heard = False
        elif not self.other.dead:
            self.other.out += data
            self.other.write()

    def write(self) -> None:
        """Hand over what waits, and the end when the other side has ended."""
        try:
            while self.out:
                del self.out[: self.sock.send(self.out)]
        except BlockingIOError:
            return
        except OSError:
            self.dead = True
            self.out.clear()

    def pass_on_end(self) -> None:
        """Tell this side that the other has nothing more to say, once all of it was handed over."""
        if not self.other.heard and not self.out and not self.told_end:
            self.told_end = True
            try:
                self.sock.shutdown(socket.SHUT_WR)
            except OSError:
                self.dead = True


class Relay:
    """All connections of one sandbox."""

    def __init__(self, source: "Port | Calls", door: str) -> None:
        self.source, self.door = source, door
        self.selector = selectors.DefaultSelector()
        self.watched: set[End] = set()

    def run(self) -> None:
        """Until the sandbox ends."""
        while True:
            self.watch(self.source, 0 if self.source.waits and self.full() else selectors.EVENT_READ, None)
            for key, mask in self.selector.select():
                if key.data is None:
                    self.accept()
                elif key.data in self.watched:
                    self.serve(key.data, mask)

    def full(self) -> bool:
        return len(self.watched) >= 2 * MOST

    def accept(self) -> None:
        opened: list[socket.socket] = []
        try:
            opened.append(self.source.accept(not self.full()))
            opened.append(socket.socket(socket.AF_UNIX))
            opened[1].settimeout(DOOR_S)
            opened[1].connect(self.door)
        except OSError:
            for sock in opened:
                sock.close()
            time.sleep(BREATH_S)  # too many open files, or the door is shut: do not ask again at once
            return
        one, two = End(opened[0], True), End(opened[1], False)
        one.other, two.other = two, one
        for end in (one, two):
            end.sock.setblocking(False)
            self.watched.add(end)
        self.settle(one)

    def serve(self, end: End, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            end.write()
        if mask & selectors.EVENT_READ:
            end.read()
        self.settle(end)

    def settle(self, end: End) -> None:
        """What both sides wait for now; they are done when neither has anything more to say, or the tool is gone."""
        both = (end, end.other)
        for side in both:
            side.pass_on_end()
        if any(side.dead and side.of_tool for side in both) or not any(side.heard or side.out for side in both):
            for side in both:
                self.watch(side.sock, 0, side)
                self.watched.discard(side)
                side.sock.close()
            return
        for side in both:
            self.watch(side.sock, side.events(), side)

    def watch(self, sock: "socket.socket | Port | Calls", events: int, end: "End | None") -> None:
        """Have the selector watch for `events`, none at all included."""
        before = self.selector.get_map().get(sock)
        if before is None:
            if events:
                self.selector.register(sock, events, end)
        elif not events:
            self.selector.unregister(sock)
        elif before.events != events:
            self.selector.modify(sock, events, end)


if __name__ == "__main__":
    given = socket.socket(fileno=int(sys.argv[1]))
    Relay(Calls(given) if given.family == socket.AF_UNIX else Port(given), sys.argv[2]).run()
