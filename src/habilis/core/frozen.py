"""The base of all our data."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of all our data: immutable, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
