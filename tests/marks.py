"""What a slow case carries that keeps a promise: left out of `make test`, part of `make test-promises`."""

from __future__ import annotations

import pytest

PROMISE = (pytest.mark.slow, pytest.mark.promise)
