"""Tools in and out: libraries, folders and packages are imported, exported, served to other programs, and verified.

The rooms here know the library; nothing is imported by naming this one.
"""
