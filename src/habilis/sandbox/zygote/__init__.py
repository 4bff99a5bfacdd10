"""A process that has loaded what tools need and forks for each task: the start of a sandbox without an interpreter's.

Threat model. Between the host, which holds keys, and tool code, which is hostile, stands one more process; as root it
may do what root may. What it is trusted with, what it is not, and what was learnt from Chromium's and Android's:

- *It knows nothing.* It is started by exec, with an environment made from nothing, and inherits one socket: no key, no
  file of a task is ever in its memory. What a task is given stands in a file without a name whose descriptor goes
  through the zygote unread; the fork reads it, once it is nobody's parent and holds no descriptor but its own.
  (Chromium's is started by exec as well, but parses each request itself.)
- *It parses one form*: eight bytes and five descriptors. Whatever else comes ends it, and with it all that it made.
  (Android's reads lines of text, into which a setting with line breaks smuggled further commands and user ids.)
- *It has seen the host's world*, in which it loads; what loaded modules remember of it would be known to every tool. It
  is told another name of the machine, and none of the host's variables, folders or streams.
- *Nobody else can speak to it.* Its socket is one end of a pair without a name. A fork closes all descriptors that are
  not its own before it reads anything. (Android keeps a list of descriptors that may stay open; here none may.)
- *It runs no tool* and one thread. It loads Pydantic from the base environment, outside of the walls: which the host
  has made, looked through, and trusts as its own; of what tools require it loads nothing. What a fork inherits is the
  same for every task: code, loaded modules, no buffers that hold anything. The zygote is never a task's descendant, so
  no task's memory can come back into it.
- *It cannot be looked into.* It is not dumpable, it is outside of every namespace and Landlock domain that tools are
  in, and the filter refuses them to trace, to read other processes' memory and to make namespaces.
- *Chance.* What Python's `random` holds is sown anew after each fork; `uuid`, `secrets` and hashes of OpenSSL ask the
  kernel or notice the fork. The seed of hashes is fixed for all tools, as it has always been, so that equal runs are
  equal. (What Android's generators held after a fork was once told by little more than the process's number.)
- *Places in memory* are alike in all forks of one zygote, and so are stack canaries: what one task learns of them is
  true for its neighbours. That is the standing criticism of both models. It gives nothing against the walls, which are
  the kernel's, and a tool runs code of its own choice anyway; it helps whoever attacks a harmless tool through a file,
  and has seen another's addresses. A zygote is renewed after MOST_SPAWNS forks, which bounds for how long they hold.
- *Its death ends its children*, the host's death ends it: the kernel's signal on a parent's death, and the end of its
  socket. A fork that finds its zygote gone does not begin. Whoever answers the host with anything but one of its three
  words is ended.
- *A fork has rights before it has walls*, as bubblewrap has: in its own namespaces it mounts what the host named, then
  gives all rights up. Nothing of a tool runs before. The first process of each process namespace stays behind only to
  collect the dead, without rights or descriptors, below the same filter as the tool.

What is read as an interpreter starts (some variables, another version of a package that is loaded) was read long ago:
a fork for a tool with such is held by the same walls and becomes an interpreter afresh. Where no zygote holds (no user
namespaces for this user, an old kernel) bubblewrap starts each, to the same list of mounts; a test holds their views
against each other.
"""
