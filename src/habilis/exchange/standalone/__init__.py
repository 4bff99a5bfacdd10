"""Programs that go into exports as they stand. They import the standard library and Pydantic alone."""
