"""Tools in and out: libraries, folders and packages are imported, exported, served to other programs, and verified."""
