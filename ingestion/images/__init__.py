"""Building the images that runs start from, and their bases.

A base comes from an image that is already there, else from the public registry, else from Debian's packages and,
where that Python is too new, from a Python of this machine: a machine without a registry can run the platform too.
Everything goes through the engine's API; the docker command line is not needed.
"""

from ingestion.images.build import build_image
from ingestion.images.errors import ImageError, Say

__all__ = ["ImageError", "Say", "build_image"]
