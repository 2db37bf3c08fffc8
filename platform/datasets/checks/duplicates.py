"""Rows that stand in more than one part: a learner knows their target without having learned."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from datasets.checks.finding import Finding, Severity, said
from datasets.checks.material import Material

PIECE = 1_000_000  # values that are hashed at a time, so that a wide table needs no second copy of itself
# From this share of the rows on, duplicates change what a score means.
TELLING_SHARE = 0.01
# Rows that hold fewer different numbers than this agree by chance, and so do those of few features.
FEWEST_FEATURES = 3


def rows_in_two_parts(material: Material) -> Iterator[Finding]:
    """Compare the rows of train with those of valid and test, and valid with test, by a hash of 64 bits."""
    if material.facts.feat_num < FEWEST_FEATURES:
        return
    hashes = {part: row_hashes(features) for part, features in material.parsed.features.items()}
    for part, other in (("test", "train"), ("valid", "train"), ("test", "valid")):
        if part not in hashes or other not in hashes:
            continue
        rows = hashes[part]
        # 0 is the row without any number, which sparse sets have many of.
        count = int(np.count_nonzero(np.isin(rows, hashes[other]) & (rows != 0)))
        if not count:
            continue
        share = count / len(rows)
        what = f"{said(count, 'row')} of {len(rows):,} ({share:.1%}) {'has' if count == 1 else 'have'} the same "
        what += f"features as a row of the {other} part"
        is_grave = share >= TELLING_SHARE and other == "train"
        mend = "Keep all copies of a row in one part." if is_grave else ""
        severity = Severity.WARNING if is_grave else Severity.NOTE
        yield Finding("duplicates", severity, material.data(part), what, mend)


def row_hashes(features: Any, *, in_any_order: bool = False) -> np.ndarray:
    """(n,) unsigned 64-bit hashes of the rows of an ndarray or a CSR matrix; 0 for a row of zeros alone.

    Equal rows have equal hashes; -0 counts as 0, and every NaN as the same. Two different rows agree with a
    probability of about 5e-20. With `in_any_order`, rows of the same values in other columns are equal, too.
    """
    if scipy.sparse.issparse(features):
        return _sparse_hashes(features.tocsr(), in_any_order=in_any_order)
    dense = np.ascontiguousarray(features, dtype=np.float64)
    salts = _salts(np.arange(dense.shape[1]), in_any_order=in_any_order)
    step = max(1, PIECE // max(1, dense.shape[1]))
    pieces = [_of_values(dense[at : at + step], salts).sum(axis=1) for at in range(0, len(dense), step)]
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.uint64)


def _salts(columns: np.ndarray, *, in_any_order: bool) -> np.ndarray:
    """A number for each column that goes into the hashes of its values."""
    if in_any_order:
        return np.zeros(len(columns), dtype=np.uint64)
    return _mixed(columns.astype(np.uint64) + np.uint64(1))


def _sparse_hashes(csr: Any, *, in_any_order: bool) -> np.ndarray:
    sums = np.zeros(csr.shape[0], dtype=np.uint64)
    step = max(1, int(PIECE * csr.shape[0] / max(1, csr.nnz)))
    for at in range(0, csr.shape[0], step):
        starts = csr.indptr[at : at + step + 1]
        piece = slice(int(starts[0]), int(starts[-1]))
        salts = _salts(csr.indices[piece], in_any_order=in_any_order)
        running = np.zeros(piece.stop - piece.start + 1, dtype=np.uint64)
        np.cumsum(_of_values(csr.data[piece], salts), out=running[1:])
        ends = running[starts - starts[0]]
        sums[at : at + len(starts) - 1] = ends[1:] - ends[:-1]  # modulo 2**64, as the sums are
    return sums


def _of_values(values: np.ndarray, salts: np.ndarray) -> np.ndarray:
    """One hash for each value, by its column's salt; 0 for 0."""
    plain = np.where(np.isnan(values), np.nan, values) + 0.0
    return np.asarray(np.where(plain == 0.0, np.uint64(0), _mixed(plain.view(np.uint64) ^ salts)))


def _mixed(bits: np.ndarray) -> np.ndarray:
    """splitmix64: every bit of a number changes half of the bits of the result (Steele and others, 2014)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
