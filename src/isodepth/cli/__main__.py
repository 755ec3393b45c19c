"""`python -m isodepth.cli`."""

import sys

from isodepth.cli import main

sys.exit(main())
