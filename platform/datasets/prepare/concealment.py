"""What keeps participants from knowing the data again: probes, and features in another order."""

from typing import Any

import numpy as np
import scipy.sparse

from datasets.prepare.drawing import Draw
from datasets.prepare.features import Features
from datasets.prepare.recipe import Recipe
from datasets.prepare.splits import Parts


def probe_count(real: int, share: float) -> int:
    """How many probes make up `share` of all features beside `real` ones."""
    return round(real * share / (1 - share))


def conceal(features: Features, parts: Parts, recipe: Recipe) -> Features:
    """The features with the probes that the recipe asks for, in another order where it says so."""
    features = _with_probes(features, parts, recipe)
    if not recipe.shuffle_features:
        return features
    order = Draw(recipe.seed, "features").order(len(features.names))
    return Features(
        _columns(features.X, order),
        tuple(features.names[place] for place in order.tolist()),
        tuple(features.types[place] for place in order.tolist()),
        features.notes,
    )


def _with_probes(features: Features, parts: Parts, recipe: Recipe) -> Features:
    """Permuted copies of real features behind these.

    Values are permuted within each part, so that a part's values stay its own. Probes of one turn through the
    features share a permutation: they depend on each other as the real ones do, and on nothing else.
    """
    real = len(features.names)
    count = probe_count(real, recipe.probes)
    if not count:
        return features
    sources, permutations = Draw(recipe.seed, "probes"), Draw(recipe.seed, "permutations")
    blocks = [features.X]
    chosen: list[int] = []
    while count > len(chosen):
        places = sources.order(real)[: count - len(chosen)]
        blocks.append(_columns(features.X, places)[_permutation(features.X.shape[0], parts, permutations)])
        chosen += places.tolist()
    is_sparse = scipy.sparse.issparse(features.X)
    return Features(
        scipy.sparse.hstack(blocks, format="csr") if is_sparse else np.hstack(blocks),
        features.names + tuple(f"probe_{position}" for position in range(1, count + 1)),
        features.types + tuple(features.types[place] for place in chosen),
        features.notes,
    )


def _permutation(rows: int, parts: Parts, draw: Draw) -> Any:
    """For each row, the row of the same part whose values it gets."""
    permutation = np.arange(rows)
    for part in parts.values():
        own = np.sort(part)
        permutation[own] = own[draw.order(len(own))]
    return permutation


def _columns(X: Any, places: Any) -> Any:
    if not scipy.sparse.issparse(X):
        return X[:, places]
    found = X.tocsc()[:, places].tocsr()
    found.sort_indices()
    return found
