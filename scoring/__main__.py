"""`python -m scoring`."""

import sys

from scoring.command import main

sys.exit(main())
