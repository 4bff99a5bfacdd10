"""`habilis library VERB`: a library looked at, proved and changed by hand. What it does is `curation/manual/`."""
