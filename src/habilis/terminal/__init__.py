"""What stands between a person at a terminal and the commands: words, tables, questions, interruptions."""
