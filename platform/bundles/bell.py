"""The doorbell of the work on bundles, and the names of its tasks."""

from accounts.bell import LEASE, MOST_TRIES, REPEAT, ring

READ = "bundles.read"
WRITE = "bundles.write"

__all__ = ["LEASE", "MOST_TRIES", "READ", "REPEAT", "WRITE", "ring"]
