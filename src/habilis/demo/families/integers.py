"""Whole numbers: prime factors, primes, common divisors and multiples, factorials, choices, Fibonacci numbers."""

from __future__ import annotations

from habilis.demo.families.asked import Asked


class Integers(Asked):
    """Family of whole numbers. A number may be what another tool finds: "the prime factors of the number of rows"."""

    name = "integers"
