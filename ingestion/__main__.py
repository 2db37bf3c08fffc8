"""`python -m ingestion run ...` and `check-traits ...`."""

import sys

from ingestion.command import main

sys.exit(main())
