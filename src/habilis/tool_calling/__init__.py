"""How the executor's model calls tools: as functions, or as text where it proves unable to; and what it is shown."""
