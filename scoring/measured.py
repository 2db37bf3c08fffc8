"""What a metric returns before it becomes a Score, and the normalising step."""

from dataclasses import dataclass

# Probabilities are clipped to [EPSILON, 1 - EPSILON] before a logarithm.
EPSILON = 1e-15
# Below this distance from 1 the base is 1 but for rounding: a single class, whose entropy is 0.
# The smallest honest distance, one odd sample among a billion, is above 1e-8.
SMALLEST_ROOM = 1e-12


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric.

    Attributes
    ----------
    raw : float
        Before normalising.
    base : float
        R, what guessing reaches.
    left_out : int
        Columns that the metric is not defined on.
    warnings : tuple of str
        Sentences for the person who scored.

    Examples
    --------
    >>> Measured(raw=0.75, base=0.5).value
    0.5
    """

    raw: float
    base: float
    left_out: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """Normalised: 0 for guessing, 1 for perfect."""
        return normalise(self.raw, self.base)


def normalise(raw: float, base: float) -> float:
    """Return (raw - R) / (1 - R), equation 10.2: 0 for guessing, 1 for perfect.

    Parameters
    ----------
    raw : float
        The metric.
    base : float
        R, below 1.

    Examples
    --------
    >>> normalise(0.75, 0.5)
    0.5
    """
    return (raw - base) / (1.0 - base)
