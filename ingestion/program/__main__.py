"""The supervisor: runs a participant's `Model` on one dataset.

    python -m ingestion.program --input DIR --output DIR --submission DIR [--load-models]

Exit codes: 0 the model came to its end, 1 the submission is at fault, 3 the dataset cannot be read.
"""

import sys
from pathlib import Path

if not __package__:
    # Started by its path: the folder that holds the package `ingestion` takes the place of this folder.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from ingestion.program.supervisor import main

# A process that a model starts by multiprocessing's spawn or forkserver imports this file once more.
if __name__ == "__main__":
    sys.exit(main())
