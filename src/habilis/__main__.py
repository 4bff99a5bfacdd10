"""`python -m habilis` is the command `habilis`."""

import sys

from habilis.cli import main

sys.exit(main())
