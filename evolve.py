"""Train on a data set: `python evolve.py --dataset tasks.jsonl --run-name first` is `habilis evolve …`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

if __name__ == "__main__":
    from habilis.cli import main

    sys.argv.insert(1, "evolve")
    sys.exit(main())
