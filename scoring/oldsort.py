"""The order in which numpy 1.12 sorted values that compare as equal, NaN among them.

The reference scorer ranked NaN predictions highest, each with a rank of its own, in the order that
numpy's unstable quicksort of 2015 happened to leave them. Some published-style scores depend on that
order, so the `libscores` convention repeats it. Only columns with several NaN values need it.
"""

import numpy as np

from scoring.targets import Floats, Ints

_INSERTION_LIMIT = 16
# Beyond this share of n log n the input was made to be quadratic; its order is then not repeated.
_WORK_PER_VALUE = 8


def quicksort_order(values: Floats) -> Ints:
    """Return (n,) the permutation that `values.argsort()` gave under numpy 1.12; n log n, in Python.

    NaN sorts last. Median-of-three quicksort with the smaller part first, and insertion sort for
    parts of up to 17 values.
    """
    # Whole numbers in the same order: NaN would compare false with everything.
    keys = np.where(np.isnan(values), values.size, np.searchsorted(np.sort(values), values)).tolist()
    order = list(range(len(keys)))
    waiting = [(0, len(order) - 1)]
    work = _WORK_PER_VALUE * len(order) * len(order).bit_length()
    while waiting:
        low, high = waiting.pop()
        while high - low > _INSERTION_LIMIT:
            work -= high - low
            if work < 0:
                return np.argsort(values, kind="stable")
            split = _partition(keys, order, low, high)
            if split - low < high - split:
                waiting.append((split + 1, high))
                high = split - 1
            else:
                waiting.append((low, split - 1))
                low = split + 1
        _insertion_sort(keys, order, low, high)
    return np.array(order, dtype=np.intp)


def _partition(keys: list[int], order: list[int], low: int, high: int) -> int:
    """Split order[low..high] around the median of its first, middle and last; return the pivot's place."""
    middle = low + (high - low) // 2
    for first, second in ((low, middle), (middle, high), (low, middle)):
        if keys[order[second]] < keys[order[first]]:
            order[first], order[second] = order[second], order[first]
    pivot = keys[order[middle]]
    left, right = low, high - 1
    order[middle], order[right] = order[right], order[middle]
    while True:
        left += 1
        while keys[order[left]] < pivot:
            left += 1
        right -= 1
        while pivot < keys[order[right]]:
            right -= 1
        if left >= right:
            break
        order[left], order[right] = order[right], order[left]
    order[left], order[high - 1] = order[high - 1], order[left]
    return left


def _insertion_sort(keys: list[int], order: list[int], low: int, high: int) -> None:
    for place in range(low + 1, high + 1):
        moved = order[place]
        key = keys[moved]
        gap = place
        while gap > low and key < keys[order[gap - 1]]:
            order[gap] = order[gap - 1]
            gap -= 1
        order[gap] = moved
