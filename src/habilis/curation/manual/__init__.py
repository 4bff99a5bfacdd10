"""A library tended by hand: looked at, proved, changed; each change is one generation, by the curator's own gates.

`tending.Tending` changes; who only looks imports `browsing`, `history` or `health`, which need not wait for the gates.
"""
