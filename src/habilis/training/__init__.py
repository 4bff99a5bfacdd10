"""Many tasks, many generations: runners, batches, the loop."""
