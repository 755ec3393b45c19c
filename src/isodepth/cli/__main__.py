"""`python -m isodepth.cli`."""

import sys

from isodepth.cli.main import main

sys.exit(main())
