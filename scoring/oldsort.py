"""The order in which numpy 1.12 sorted values that compare as equal, NaN among them.

The reference scorer ranked NaN predictions highest, each with a rank of its own, in the order that
numpy's unstable quicksort of 2015 happened to leave them. Some published-style scores depend on that
order, so the `libscores` convention repeats it. Only columns with several NaN values need it.
"""

import numpy as np

from scoring.targets import Floats, Ints

# Parts of up to this many values and one more went to insertion sort.
_INSERTION_LIMIT = 15


def quicksort_order(values: Floats) -> Ints:
    """Return the permutation that `values.argsort()` gave under numpy 1.12, NaN last.

    Median-of-three quicksort with the smaller part first, insertion sort for parts of up to 16
    values, and heap sort for a part that was split too often, which keeps it n log n. In Python, so
    some 5 microseconds a value.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        What is sorted; NaN is allowed.

    Returns
    -------
    ndarray of int, shape (n,)
        Indices into `values` in their sorted order.

    Examples
    --------
    >>> import numpy as np
    >>> quicksort_order(np.array([np.nan, 0.5, np.nan, 0.1])).tolist()
    [3, 1, 0, 2]
    """
    # Whole numbers in the same order: NaN would compare false with everything.
    keys = np.where(np.isnan(values), values.size, np.searchsorted(np.sort(values), values)).tolist()
    order = list(range(len(keys)))
    splits_left = 2 * (len(order).bit_length() - 1)
    waiting = [(0, len(order) - 1, splits_left)]
    while waiting:
        low, high, splits_left = waiting.pop()
        # Noticed only when a part comes off the stack, as it was in 2015.
        if splits_left < 0:
            _heap_sort(keys, order, low, high)
            continue
        while high - low > _INSERTION_LIMIT:
            split = _partition(keys, order, low, high)
            splits_left -= 1
            if split - low < high - split:
                waiting.append((split + 1, high, splits_left))
                high = split - 1
            else:
                waiting.append((low, split - 1, splits_left))
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


def _heap_sort(keys: list[int], order: list[int], low: int, high: int) -> None:
    part = order[low : high + 1]
    for root in range(len(part) // 2 - 1, -1, -1):
        _sift_down(keys, part, root, len(part))
    for size in range(len(part) - 1, 0, -1):
        last, part[size] = part[size], part[0]
        part[0] = last
        _sift_down(keys, part, 0, size)
    order[low : high + 1] = part


def _sift_down(keys: list[int], heap: list[int], root: int, size: int) -> None:
    moved = heap[root]
    child = 2 * root + 1
    while child < size:
        if child + 1 < size and keys[heap[child]] < keys[heap[child + 1]]:
            child += 1
        if keys[moved] >= keys[heap[child]]:
            break
        heap[root] = heap[child]
        root, child = child, 2 * child + 1
    heap[root] = moved
