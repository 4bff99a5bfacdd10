"""Mark-up of tool calls as open models write it: the marks as a table, and one reader for all of them."""
