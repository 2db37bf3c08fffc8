"""What runs inside the sandbox, next to the participant's code.

Standard library, numpy and scipy only, and nothing newer than Python 3.9, because images differ.
`from ingestion.program import BaseModel` gives a model `time_left()`.
"""

from ingestion.program.base import BaseModel

__all__ = ["BaseModel"]
