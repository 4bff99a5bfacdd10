"""Runs tools: the host, what each is granted, the packages it gets, and its only way to the network."""
