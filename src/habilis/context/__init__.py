"""What a task works with: its tools, its tool calls and their results, as one object that the agents are given."""
