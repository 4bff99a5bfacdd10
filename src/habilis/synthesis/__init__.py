"""How tools come to be: a writer writes, the gate tries, recorded calls are repeated, tasks share what they build."""
