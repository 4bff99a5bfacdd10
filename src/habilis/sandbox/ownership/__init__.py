"""Whose files are whose: what a call changed in its workspace, what of that stays, and as which user it ran."""
