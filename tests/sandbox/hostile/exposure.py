"""Attempts to find out what is no tool's business."""

from __future__ import annotations

from hostile.attack import NO_NETWORK, NOT_PERMITTED, NOTHING_FOUND, OUT_OF_SIGHT, Attack

SEES_NAMES = "Landlock does not confine stat, readlink and the like: names, sizes and times can be found out"
SEES_PROCESSES = "Landlock has no process namespace: which process numbers are in use can be found out"


def reading(name: str, key: str, harm: str) -> Attack:
    return Attack(name, harm, OUT_OF_SIGHT, f"return OutputModel(value=open(s[{key!r}]).read())")


ATTACKS = (
    Attack(
        "its own environment",
        "a variable of the host is in the tool's environment",
        r"output: .*PYTHONHASHSEED",
        "return OutputModel(value=dict(os.environ))",
        silent="API_KEY|PROXY|/root|HABILIS",
    ),
    Attack(
        "its environment as the kernel keeps it",
        "the first environment of the process shows more than os.environ",
        r"output: |denied: ",
        "return OutputModel(value=open('/proc/self/environ').read())",
        silent="API_KEY|PROXY|/root",
    ),
    Attack(
        "environment of the host",
        "the host's variables are read through /proc",
        r"(denied|crashed): .*(Permission denied|No such file)",
        "return OutputModel(value=open(f\"/proc/{s['host']}/environ\").read())",
    ),
    Attack(
        "environments and command lines of all",
        "a secret of any process is found in /proc",
        r"output: |denied: ",
        """
        found = []
        for pid in os.listdir("/proc"):
            for name in ("environ", "cmdline"):
                try:
                    found.append(open(f"/proc/{pid}/{name}", "rb").read().decode("utf-8", "replace"))
                except OSError:
                    pass
        return OutputModel(value=found)
        """,
        silent="API_KEY|PROXY|sshd|canary",
    ),
    Attack(
        "command line of a neighbour",
        "a secret on another process's command line is read",
        r"(denied|crashed): .*(Permission denied|No such file)",
        "return OutputModel(value=open(f\"/proc/{s['victim']}/cmdline\").read())",
    ),
    Attack(
        "descriptors of the first process",
        "what the sandbox's own process holds open can be opened",
        r"denied: .*Permission denied|output: ",
        "return OutputModel(value=[os.readlink('/proc/1/fd/' + n) for n in os.listdir('/proc/1/fd')])",
        silent="/home/|canary|socket:|/tmp/",
    ),
    reading("a foreign file", "canary", "a file that anyone may read by its mode is read"),
    reading("the user's ssh key", "ssh", "a private key is read"),
    reading("the user's cloud credentials", "cloud", "credentials are read"),
    reading("the user's netrc", "netrc", "passwords are read"),
    reading("another task's notes", "other_task", "a workspace of another task is read"),
    reading("its own task's tape", "tape", "the record of the models' replies is read"),
    reading("another tool of the library", "neighbour", "the library is read"),
    Attack(
        "a way up out of the workspace",
        "`..` leads to the task's own records",
        OUT_OF_SIGHT,
        "return OutputModel(value=open('../events.jsonl').read())",
    ),
    Attack(
        "accounts of the system",
        "names of accounts are read",
        OUT_OF_SIGHT,
        "return OutputModel(value=open('/etc/passwd').read())",
    ),
    Attack(
        "password hashes of the system",
        "hashes are read, though the host may be root",
        OUT_OF_SIGHT,
        "return OutputModel(value=open('/etc/shadow').read())",
    ),
    Attack(
        "a search for keys on the whole disk",
        "any folder of people is listed",
        NOTHING_FOUND,
        """
        wanted, found = {"id_rsa", "credentials", ".netrc", "authorized_keys", ".bash_history"}, []
        for top in ("/root", "/home", "/var", "/srv", "/opt", "/mnt", s["home"], "/tmp", "/run"):
            for where, folders, names in os.walk(top):
                found += [os.path.join(where, name) for name in names if name in wanted]
        return OutputModel(value=found)
        """,
    ),
    Attack(
        "names in a foreign folder",
        "a folder outside is listed",
        OUT_OF_SIGHT,
        "return OutputModel(value=os.listdir(s['home']))",
    ),
    Attack(
        "size of a foreign file",
        "size and time of a file outside are found out",
        OUT_OF_SIGHT,
        "return OutputModel(value=os.stat(s['canary']).st_size)",
        known={"landlock": SEES_NAMES},
    ),
    Attack(
        "where a foreign link leads",
        "the target of a link outside is read",
        OUT_OF_SIGHT,
        "return OutputModel(value=os.readlink(s['home'] + '/link'))",
        known={"landlock": SEES_NAMES},
    ),
    Attack(
        "extended attributes of a foreign file",
        "what is written beside a file's content is read",
        r"(denied|crashed): .*(No such file|not supported|Permission denied)",
        "return OutputModel(value=os.getxattr(s['canary'], 'user.note').decode())",
    ),
    Attack(
        "watching a foreign folder",
        "names of files that others make are told by inotify",
        r"(denied|crashed): .*(No such file|not supported|not permitted)",
        """
        began()
        handle = worked(libc.inotify_init1(0o4000))
        worked(libc.inotify_add_watch(handle, s["home"].encode(), 0xFFF))
        return OutputModel(value="watching")
        """,
    ),
    Attack(
        "cloud metadata",
        "the machine's identity is fetched from its provider",
        NO_NETWORK,
        """
        import urllib.request
        asked = urllib.request.Request("http://169.254.169.254/latest/api/token", method="PUT")
        return OutputModel(value=urllib.request.urlopen(asked, timeout=2).read().decode())
        """,
    ),
    Attack(
        "inherited descriptors",
        "an open file of the host is read through its number",
        NOTHING_FOUND,
        """
        found = []
        for number in range(3, 256):
            try:
                found.append(os.pread(number, 100, 0).decode("utf-8", "replace"))
            except OSError:
                pass
        return OutputModel(value=found)
        """,
    ),
    Attack(
        "the request after it was read",
        "what was handed over to confine and to start is still open",
        r"output: 1$",
        """
        import stat
        kinds = []
        for number in range(3, 256):
            try:
                kinds.append(stat.S_ISFIFO(os.fstat(number).st_mode))
            except OSError:
                pass
        return OutputModel(value=sum(kinds) if all(kinds) else -1)
        """,
    ),
    Attack(
        "keys of the kernel's keyring",
        "a key of the user's session is read",
        NOT_PERMITTED,
        """
        text = ctypes.create_string_buffer(100)
        size = syscall("keyctl", 11, s["key"], ctypes.cast(text, ctypes.c_void_p), 100, 0)
        return OutputModel(value=text.raw[:size].decode())
        """,
    ),
    Attack(
        "a key asked for by name",
        "the kernel looks for a key in the user's keyrings",
        NOT_PERMITTED,
        "return OutputModel(value=syscall('request_key', b'user', b'habilis-test', None, 0))",
    ),
    Attack(
        "the kernel's log",
        "messages of the kernel, with addresses, are read",
        NOT_PERMITTED,
        """
        text = ctypes.create_string_buffer(4096)
        worked(libc.klogctl(3, text, 4096))
        return OutputModel(value=text.value.decode("utf-8", "replace"))
        """,
    ),
    Attack(
        "the kernel's log as a device",
        "/dev/kmsg is read",
        r"(denied|crashed): .*(No such file|Permission denied)",
        "return OutputModel(value=open('/dev/kmsg').readline())",
    ),
    Attack(
        "the table of mounts",
        "places of the host that were not given are named",
        r"output: |denied: ",
        "return OutputModel(value=open('/proc/self/mountinfo').read())",
        silent="/home/|library/|runs/other|tape|/var/|/root/\\.ssh",
    ),
    Attack(
        "the machine's identity",
        "the machine's id or its devices are read",
        NOTHING_FOUND,
        """
        found = []
        for path in ("/etc/machine-id", "/sys/class/dmi/id/product_uuid", "/etc/hostname", "/etc/resolv.conf",
                     "/sys/class/net/eth0/address", "/etc/hosts", "/var/lib/dbus/machine-id", "/proc/net/arp"):
            try:
                found += [open(path).read()] if "arp" not in path else open(path).readlines()[1:]
            except OSError:
                pass
        return OutputModel(value=found)
        """,
    ),
    Attack(
        "shared memory of System V",
        "memory segments of others are found or made",
        NOT_PERMITTED,
        "return OutputModel(value=worked(libc.shmget(0, 4096, 0o1777)))",
    ),
    Attack(
        "shared memory by name",
        "a file in the host's /dev/shm is read",
        r"(denied|crashed): .*(No such file|Permission denied)",
        "return OutputModel(value=open('/dev/shm/' + s['shm']).read())",
    ),
    Attack(
        "which processes exist",
        "numbers of the host's processes are found out",
        r"crashed: ProcessLookupError",
        "return OutputModel(value=os.getsid(s['victim']))",
        known={"landlock": SEES_PROCESSES},
    ),
)
