"""What the demonstration model's families of questions stand on: language, operations, the world of a task."""
