"""What is written down of a step: reports with the fate of every tool, the journal, the figures."""
