"""Plain words that every other room shares: types, errors, events, ports. Imports nothing of ours."""
