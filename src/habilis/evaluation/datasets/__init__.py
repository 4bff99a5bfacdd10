"""Data sets: from files, folders and the hub to rows (`habilis.curation.ledger.reports.Row`).

`load` is the door. JSON lines, JSON, CSV and its kin and Parquet are read with a small mapping of columns, the
published benchmarks (`BENCHMARKS`) in their own formats, decryption included.
"""

from habilis.evaluation.datasets.loading import FORMATS, load
from habilis.evaluation.datasets.published import BENCHMARKS

__all__ = ["BENCHMARKS", "FORMATS", "load"]
