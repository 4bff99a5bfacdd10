"""What a plain question about one's own files asks for, read by rule: its language, operations, tables, and world."""
