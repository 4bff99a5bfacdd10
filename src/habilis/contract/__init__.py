"""What a tool is: the form of its source, its name, its recorded calls, its effects, what it needs and may reach."""
