"""The doorbell of the analyses, and the names of its tasks."""

from accounts.bell import LEASE, MOST_TRIES, REPEAT, ring

COMPUTE = "analysis.compute"
READ_BENCHMARK = "analysis.read_benchmark"

__all__ = ["COMPUTE", "LEASE", "MOST_TRIES", "READ_BENCHMARK", "REPEAT", "ring"]
