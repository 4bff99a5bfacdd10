"""Calls that nobody has made yet, made from real ones: the domain that those show, edits within it, and what the tool's
code looks for. Nothing here runs a tool."""
