"""Packages for tools: which may be had, and the environments they are installed in."""
