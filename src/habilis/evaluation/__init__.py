"""Data sets become tasks; answers are scored."""
