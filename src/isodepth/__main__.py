"""Command line as `python -m isodepth`, for when the script `isodepth` is not on the path."""

import sys

from isodepth.cli import main

sys.exit(main())
