"""JSON schemas of others, checked within bounds and in counted steps."""
