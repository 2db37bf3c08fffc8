"""The sections of the analyses, in the order of their pages."""

from analysis.sections.base import Section
from analysis.sections.standings import SECTION as STANDINGS

SECTIONS: tuple[Section, ...] = (STANDINGS,)
BY_KEY = {section.key: section for section in SECTIONS}
