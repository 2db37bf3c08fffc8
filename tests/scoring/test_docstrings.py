"""The docstrings: every public name explains itself, and every example in them is true."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import scoring

MODULES = [importlib.import_module(f"scoring.{found.name}") for found in pkgutil.iter_modules(scoring.__path__)
           if found.name != "__main__"] + [scoring]  # fmt: skip
FUNCTIONS = [
    pytest.param(function, id=f"{module.__name__}.{name}")
    for module in MODULES
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and not name.startswith("_")
]
EQUATIONS = {
    "r2": "10.3", "abs_score": "10.4", "bac": "10.5", "auc": "10.9", "f1": "10.12", "pac": "10.13",
    "normalise": "10.2",
}  # fmt: skip


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_example_is_true(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_public_function_has_an_example_that_runs(function):
    assert "Examples\n" in (function.__doc__ or "")
    assert doctest.DocTestFinder().find(function, globs={})[0].examples


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_public_function_documents_its_parameters(function):
    document = inspect.getdoc(function) or ""
    assert "Parameters\n" in document
    for name in inspect.signature(function).parameters:
        assert name in document.partition("Parameters\n")[2], name


@pytest.mark.parametrize("name, equation", EQUATIONS.items())
def test_metrics_name_their_equation(name, equation):
    module = "measured" if name == "normalise" else "metrics"
    assert equation in getattr(importlib.import_module(f"scoring.{module}"), name).__doc__
