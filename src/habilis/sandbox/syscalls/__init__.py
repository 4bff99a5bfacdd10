"""Which system calls a sandboxed program may make: the list, and its way into the kernel."""
