"""`python -m ingestion run ...`."""

import sys

from ingestion.command import main

sys.exit(main())
