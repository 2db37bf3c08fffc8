"""Names of tasks, metrics and conventions, and the spellings in which people write them."""

import re

from scoring.errors import UnknownNameError

BINARY = "binary.classification"
MULTICLASS = "multiclass.classification"
MULTILABEL = "multilabel.classification"
REGRESSION = "regression"
TASKS = (BINARY, MULTICLASS, MULTILABEL, REGRESSION)

METRICS = ("R2", "ABS", "BAC", "AUC", "F1", "PAC")
REGRESSION_METRICS = ("R2", "ABS")
CLASSIFICATION_METRICS = ("BAC", "AUC", "F1", "PAC")

CHAPTER = "chapter"
LIBSCORES = "libscores"
CONVENTIONS = (CHAPTER, LIBSCORES)

_ALIASES = {"a": "ABS", "roc_auc": "AUC", "balanced_accuracy": "BAC"} | {name.lower(): name for name in METRICS}
_FIRST_WORDS = {task.partition(".")[0]: task for task in TASKS}


def canonical_metric(text: str) -> str:
    """Return R2, ABS, BAC, AUC, F1 or PAC for any spelling found in real info files and bundles.

    Case, a `_metric` or `_score` ending and the name of a task behind the metric do not matter.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownNameError
        The text names no metric.

    Examples
    --------
    >>> canonical_metric("a_metric"), canonical_metric("bac_multiclass"), canonical_metric("Auc")
    ('ABS', 'BAC', 'AUC')
    """
    key = re.sub(r"[\s.-]+", "_", text.strip().strip("'\"").lower())
    key = re.sub(r"_(metric|score)$", "", key)
    key = re.sub(r"_(binary|multi_?class|multi_?label|regression)(_classification)?$", "", key)
    key = re.sub(r"_(metric|score)$", "", key)
    if key not in _ALIASES:
        raise UnknownNameError(f"'{text}' is not a metric; the metrics are {', '.join(METRICS)}.")
    return _ALIASES[key]


def canonical_task(text: str) -> str:
    """Return the full name of a task given by its full name or its first word, in any case.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownNameError
        The text names no task.

    Examples
    --------
    >>> canonical_task("Multiclass"), canonical_task("binary.classification")
    ('multiclass.classification', 'binary.classification')
    """
    key = text.strip().strip("'\"").lower()
    first = re.split(r"[\s._]+", key.replace("multi-", "multi"))[0]
    rest = key.replace("multi-", "multi")[len(first) :].strip(" ._")
    if first not in _FIRST_WORDS or rest not in ("", "classification"):
        raise UnknownNameError(f"'{text}' is not a task; the tasks are {', '.join(TASKS)}.")
    return _FIRST_WORDS[first]


def canonical_convention(text: str) -> str:
    """Return `chapter` or `libscores`, in any case.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownNameError
        The text names neither.

    Examples
    --------
    >>> canonical_convention("Chapter")
    'chapter'
    """
    key = text.strip().lower()
    if key not in CONVENTIONS:
        raise UnknownNameError(f"'{text}' is not a convention; the conventions are {', '.join(CONVENTIONS)}.")
    return key
