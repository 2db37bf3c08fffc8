"""The pages of a benchmark, in their order."""

from analysis.benchmarks.views.base import View
from analysis.benchmarks.views.coverage import VIEW as COVERAGE
from analysis.benchmarks.views.distributions import VIEW as DISTRIBUTIONS
from analysis.benchmarks.views.duration import VIEW as TIME
from analysis.benchmarks.views.gains import VIEW as TUNABILITY
from analysis.benchmarks.views.portfolios import VIEW as PORTFOLIO
from analysis.benchmarks.views.rating import VIEW as EPP
from analysis.benchmarks.views.sensitivity import VIEW as SENSITIVITY

VIEWS: tuple[View, ...] = (COVERAGE, SENSITIVITY, TUNABILITY, TIME, PORTFOLIO, EPP, DISTRIBUTIONS)
BY_KEY = {view.key: view for view in VIEWS}
