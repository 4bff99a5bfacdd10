"""From the tools of many tasks to one library that only gets better."""
