"""Loads the scorer of 2015 from where the caller has it; no line of it is kept here.

It was written for Python 2: `filter` and `map` gave lists, `reduce` was built in, and it imported
packages that have nothing to do with its metrics. Those names are lent to it.
"""

import builtins
import contextlib
import functools
import io
import types
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FILE_NAME = "libscores.py"
FUNCTIONS = {"R2": "r2_metric", "ABS": "a_metric", "BAC": "bac_metric", "AUC": "auc_metric", "F1": "f1_metric",
             "PAC": "pac_metric"}  # fmt: skip
TASKS = {
    "binary": "binary.classification",
    "multiclass": "multiclass.classification",
    "multilabel": "multilabel.classification",
    "regression": "regression",
}
Functions = dict[str, Any]


def load_reference(path: Path) -> Functions:
    """The functions of a `libscores.py`, given by its path or its folder.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    """
    file = path / FILE_NAME if path.is_dir() else path
    source = file.read_text(encoding="utf-8", errors="replace")
    lent = vars(builtins).copy()
    lent |= {
        "filter": lambda keep, values: list(filter(keep, values)),
        "map": lambda change, *values: list(map(change, *values)),
        "reduce": functools.reduce,
        "xrange": range,
        "__import__": _lenient_import,
    }
    functions: Functions = {"__builtins__": lent, "__name__": "libscores", "__file__": str(file)}
    # The file is the caller's own choice, given on the command line.
    exec(compile(source, str(file), "exec"), functions)  # noqa: S102
    return functions


def _lenient_import(name: str, *arguments: Any) -> Any:
    """An import in which absent packages, and names gone from them, are empty."""
    fallback = types.SimpleNamespace(maximum=np.maximum, minimum=np.minimum, get_installed_distributions=list)
    if name.partition(".")[0] in ("scipy", "pip", "sklearn", "psutil"):
        # The metrics use two names of scipy that have moved to numpy; the rest is for its reports.
        return fallback if name != "sklearn" else types.SimpleNamespace(metrics=None)
    return __import__(name, *arguments)


def score_with_reference(
    functions: Functions, solution: NDArray[np.float64], prediction: NDArray[np.float64], *, task: str, metric: str
) -> float:
    """The score as the kit's `score.py` computed it: repaired or normalised first, then the metric."""
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        if metric in ("R2", "ABS"):
            truth, guess = functions["sanitize_array"](solution), functions["sanitize_array"](prediction)
        else:
            truth, guess = functions["normalize_array"](solution, prediction)
        return float(functions[FUNCTIONS[metric]](truth, guess, TASKS[task]))


def read_with_reference(functions: Functions, path: Path) -> NDArray[np.float64]:
    """A table as the kit read it: its own `read_array`, which called numpy's genfromtxt."""
    read = functions.get("read_array", lambda name: np.genfromtxt(name, dtype=float))
    table: NDArray[np.float64] = read(str(path))
    return table
