"""Values in a text as people write them: numbers with their units, dates, times of day. Nothing but reading."""
