"""Histories, calls and replies as data: read, put in order, cut to a length. Nothing here asks a model."""
