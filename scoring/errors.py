"""The errors of the package. Each message is one sentence that a participant or organizer can act on."""


class ScoringError(ValueError):
    """Anything that keeps a score from being computed; the message is one plain sentence."""


class BadPredictionError(ScoringError):
    """The prediction is at fault: wrong shape, text, a ragged line, NaN or infinity."""


class BadSolutionError(ScoringError):
    """The solution is at fault: the organizer, not the participant, has to mend it."""


class UndefinedMetricError(ScoringError):
    """The solution gives the metric no value: one value everywhere, one class only, no sample."""


class UnknownNameError(ScoringError):
    """No task, metric or convention has this name."""
