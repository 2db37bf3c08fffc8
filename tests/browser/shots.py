"""Screenshots of the pages that tests look at, kept where `PODIUM_SCREENSHOTS` names a folder."""

import os
import re
from pathlib import Path

from playwright.sync_api import Page


def keep(page: Page, name: str) -> None:
    """A picture of the whole page under a name made of words and dashes; nothing where no folder is named."""
    folder = os.environ.get("PODIUM_SCREENSHOTS")
    if folder:
        place = Path(folder) / (re.sub(r"[^\w]+", "-", name).strip("-") + ".jpg")
        place.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=place, full_page=True, type="jpeg", quality=70)
