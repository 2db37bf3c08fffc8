"""The sections of the analyses, in the order of their pages."""

from analysis.replay.notes import with_published
from analysis.sections.base import Section
from analysis.sections.curves import SECTION as CURVES
from analysis.sections.difficulty import SECTION as DIFFICULTY
from analysis.sections.epp import SECTION as EPP
from analysis.sections.meta_features import SECTION as META_FEATURES
from analysis.sections.metrics import SECTION as METRICS
from analysis.sections.spaces import SECTION as SPACES
from analysis.sections.standings import SECTION as STANDINGS
from analysis.sections.tuning import SECTION as TUNING
from analysis.sections.validation import SECTION as VALIDATION

SECTIONS: tuple[Section, ...] = (
    STANDINGS,
    EPP,
    DIFFICULTY,
    CURVES,
    VALIDATION,
    META_FEATURES,
    TUNING,
    METRICS,
    SPACES,
)
SECTIONS = tuple(with_published(section) for section in SECTIONS)
BY_KEY = {section.key: section for section in SECTIONS}
