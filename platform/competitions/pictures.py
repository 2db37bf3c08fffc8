"""Pictures that organizers upload for their pages. None of the bytes that were sent is ever shown.

A picture is decoded and encoded anew: what else a file may carry (scripts, another file behind its end, the place
where a photograph was taken) does not survive that. Its dimensions are read before its points are, so that a small
file that unfolds into gigabytes is refused.
"""

import io
import re
from dataclasses import dataclass
from typing import BinaryIO

from PIL import Image, ImageOps, UnidentifiedImageError

from accounts.refusals import Refused
from ingestion.budget import format_size

LARGEST_FILE = 8 * 2**20
MOST_POINTS = 25_000_000  # 100 MB while it is encoded
LONGEST_SIDE = 2000
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,80}\.(?:png|jpg)")


@dataclass(frozen=True)
class Picture:
    """A picture as it is kept: `suffix` is .png or .jpg; width and height in points."""

    content: bytes
    suffix: str
    width: int
    height: int


def encoded(file: BinaryIO, size: int) -> Picture:
    """The picture encoded anew, at most `LONGEST_SIDE` wide and high; raises Refused where it is none."""
    if size > LARGEST_FILE:
        raise Refused(f"A picture has at most {format_size(LARGEST_FILE)}; this one has {format_size(size)}.")
    try:
        with Image.open(file, formats=FORMATS) as source:
            if source.width * source.height > MOST_POINTS:
                raise _too_many_points()
            return _saved(ImageOps.exif_transpose(source), is_photograph=source.format == "JPEG")
    except UnidentifiedImageError:
        raise Refused("This is no picture that is known here.", mend="Send PNG, JPEG, GIF or WebP.") from None
    except Image.DecompressionBombError:
        raise _too_many_points() from None
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as problem:
        # Pillow's decoders raise all of these for files that are broken or made to break them.
        raise Refused("The picture is damaged: it could not be read to its end.") from problem


def _too_many_points() -> Refused:
    return Refused(f"The picture has more than {MOST_POINTS:,} points.", mend="Make it smaller.")


def _saved(image: Image.Image, *, is_photograph: bool) -> Picture:
    """PNG keeps edges and transparency; photographs are a tenth of the size as JPEG."""
    has_alpha = not is_photograph and image.has_transparency_data
    image = image.convert("RGBA" if has_alpha else "RGB")
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    buffer = io.BytesIO()
    if is_photograph:
        image.save(buffer, "JPEG", quality=88, optimize=True)
    else:
        image.save(buffer, "PNG", optimize=True)
    return Picture(buffer.getvalue(), ".jpg" if is_photograph else ".png", image.width, image.height)
