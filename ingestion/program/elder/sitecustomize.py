"""Gives back what newer packages have dropped, to programs that were written before.

Python imports a module of this name by itself where it finds one on its path, and programs of imported
competitions find this one. No package is imported for it: NumPy, pandas, SciPy, scikit-learn and PyYAML get their
former names when a program imports them, and only those that they do not have.
"""

import builtins
import collections.abc
import sys
import time

MYPY = False
if MYPY:
    from typing import Any

_OF_NUMPY = {
    **{"float_": "float64", "complex_": "complex128", "cfloat": "complex128", "unicode_": "str_"},
    **{"string_": "bytes_", "NaN": "nan", "NAN": "nan", "Inf": "inf", "Infinity": "inf", "infty": "inf"},
    **{"PINF": "inf", "product": "prod", "cumproduct": "cumprod", "sometrue": "any", "alltrue": "all"},
    **{"in1d": "isin", "trapz": "trapezoid", "row_stack": "vstack"},
}


def give(place: "Any", name: str, value: "Any") -> None:
    """Set a name that is not there."""
    if name not in vars(place):
        setattr(place, name, value)


def numpy(module: "Any") -> None:
    """Names that went with NumPy 1.24 and 2.0."""
    for name in ("bool", "int", "float", "complex", "object", "str"):
        give(module, name, getattr(builtins, name))
    for name, now in _OF_NUMPY.items():
        if now in vars(module):
            give(module, name, vars(module)[now])
    give(module, "NINF", -module.inf)
    give(module, "asscalar", lambda array: array.item())
    give(module, "asfarray", lambda array, dtype=module.float64: module.asarray(array, dtype=dtype))
    give(module, "msort", lambda array: module.sort(array, axis=0))


def pandas(module: "Any") -> None:
    """Methods that went with pandas 2 and 3."""

    def append(self: "Any", other: "Any", ignore_index: bool = False, **_: "Any") -> "Any":
        if isinstance(other, dict):
            other = module.Series(other)
        if isinstance(self, module.DataFrame) and isinstance(other, module.Series):
            other = other.to_frame().T
        others = list(other) if isinstance(other, (list, tuple)) else [other]
        pieces = [piece if hasattr(piece, "ndim") else module.DataFrame(others) for piece in others]
        return module.concat([self, *pieces], ignore_index=ignore_index)

    for kind in (module.DataFrame, module.Series):
        give(kind, "append", append)
        give(kind, "iteritems", kind.items)
    if hasattr(module.DataFrame, "map"):
        give(module.DataFrame, "applymap", module.DataFrame.map)


def scipy(module: "Any") -> None:
    """The copy of a function of NumPy's that many drew ROC curves with."""
    import numpy

    give(module, "interp", numpy.interp)


def sklearn_metrics(module: "Any") -> None:
    """The argument `squared`, which went with scikit-learn 1.6."""
    from inspect import signature

    now = module.mean_squared_error
    if "squared" in signature(now).parameters:
        return

    def mean_squared_error(*arguments: "Any", squared: bool = True, **named: "Any") -> "Any":
        value = now(*arguments, **named)
        return value if squared else value**0.5

    module.mean_squared_error = mean_squared_error


def sklearn_externals(module: "Any") -> None:
    """The copy of joblib with which models were saved before scikit-learn 0.23."""
    import joblib  # type: ignore[import-untyped]

    give(module, "joblib", joblib)
    sys.modules.setdefault(module.__name__ + ".joblib", joblib)


def yaml(module: "Any") -> None:
    """`load` without a loader, which went with PyYAML 6."""
    for name in ("load", "load_all"):
        setattr(module, name, with_loader(getattr(module, name), module.FullLoader))


def with_loader(load: "Any", usual: "Any") -> "Any":
    """A function of PyYAML's that has a usual loader again."""

    def loading(stream: "Any", Loader: "Any" = None) -> "Any":
        return load(stream, Loader=Loader or usual)

    return loading


PATCHES = {
    "numpy": numpy,
    "pandas": pandas,
    "scipy": scipy,
    "sklearn.externals": sklearn_externals,
    "sklearn.metrics": sklearn_metrics,
    "yaml": yaml,
}


class Finder:
    """Finds the packages of `PATCHES` as usual, and has them completed when they have been loaded."""

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """The usual spec, with a loader around its own."""
        if name not in PATCHES:
            return None
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, PATCHES[name])  # type: ignore[assignment]  # has what is needed
        return spec


class Loader:
    """A loader that completes its module and then leaves its place to the real one."""

    def __init__(self, real: "Any", patch: "Any") -> None:
        self.real = real
        self.patch = patch

    def __getattr__(self, name: str) -> "Any":
        return getattr(self.real, name)

    def create_module(self, spec: "Any") -> "Any":
        """As the real loader."""
        return self.real.create_module(spec)

    def exec_module(self, module: "Any") -> None:
        """As the real loader, and then the former names."""
        module.__spec__.loader = module.__loader__ = self.real
        self.real.exec_module(module)
        try:
            self.patch(module)
        except Exception as error:  # a package of an age that we do not know stays as it is
            print("Former names of " + module.__name__ + " could not be given back:", error, file=sys.stderr)


for _name in collections.abc.__all__:
    give(collections, _name, getattr(collections.abc, _name))
give(time, "clock", time.perf_counter)
sys.meta_path.insert(0, Finder())
