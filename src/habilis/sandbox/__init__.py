"""Holds code of others: what runs behind the wall sees and does no more than it was given."""
