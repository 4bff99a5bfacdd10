"""A model that agrees with everything, and the questions that it is asked."""
