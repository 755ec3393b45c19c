"""Entry point of `python -m isodepth`, if the script `isodepth` is not on the path."""

import sys

from isodepth.cli import main

sys.exit(main())
