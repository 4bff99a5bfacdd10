"""Answer one question: `python main.py "What is 2 + 3 * 4?"` is `habilis run …`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

if __name__ == "__main__":
    from habilis.cli import main

    sys.argv.insert(1, "run")
    sys.exit(main())
