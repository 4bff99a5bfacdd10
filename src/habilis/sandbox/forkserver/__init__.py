"""Warm calls: servers that fork for each call, kept for as long as a task needs them."""
