"""The few numbers by which the index ranks: the same for every library and every source of tools."""

from __future__ import annotations

from dataclasses import dataclass

from habilis.library.retrieval.formula import Field

FIELDS = ("name", "description", "parameters", "what is said of parameters", "past questions")


@dataclass(frozen=True)
class Weights:
    """Chosen by `benchmarks/tune_retrieval.py`, on one half of public questions.

    `fields` are in the order of `FIELDS`, `k1` is that of BM25. `faint` and `argument` weigh a query's terms that say
    little, and those of numbers, paths and quoted texts; `neighbour`, `kin` and `quantity` terms that it implies;
    `subject` those by which tools name what a term speaks of, `subject_alone` where no tool has the term itself.
    `parts` weighs its best single wish. What follows is added to a score of about 0 to 2: `named` for a name that the
    query says in full (of which faint terms count `faint_in_name`), `lacking` for each kind of argument that a tool
    must have and the query does not give, `yields` for a tool that gives the quantity which is asked for. `worth` is
    so small that it decides between near equals alone.
    """

    fields: tuple[Field, ...] = (
        Field(2.0, 3.0, 0.2),
        Field(1.0, 10.0, 0.6),
        Field(0.65, 4.0, 0.675),
        Field(0.4, 16.0, 0.75),
        Field(0.5, 24.0, 0.5),
    )
    k1: float = 1.0
    faint: float = 0.7
    argument: float = 0.5
    neighbour: float = 0.25
    kin: float = 0.4
    subject: float = 0.2
    subject_alone: float = 0.5
    quantity_asked: float = 0.6
    quantity_given: float = 0.25
    parts: float = 0.6
    named: float = 0.27
    faint_in_name: float = 0.15
    lacking: float = 0.1
    yields: float = 0.3
    worth: float = 0.02


WEIGHTS = Weights()
