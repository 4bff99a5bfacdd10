"""Starting, watching and ending processes that run code of others, and the pipes to them."""
