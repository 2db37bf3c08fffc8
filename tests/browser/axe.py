"""axe-core in a page, out of the installed package: what it finds serious or critical."""

import functools
from collections.abc import Sequence
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

CONTRAST = ("color-contrast",)
ASK = """async (only) => {
  const options = { resultTypes: ["violations"] };
  if (only.length) options.runOnly = { type: "rule", values: only };
  const found = await axe.run(document, options);
  return found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))].join(": "));
}"""


@functools.cache
def source() -> str:
    """The library, as one script."""
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


def complaints(page: Page, only: Sequence[str] = ()) -> list[str]:
    """The rules that are broken, each with the first elements; `only` names the rules that are asked."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(source())
    return page.evaluate(ASK, list(only))
