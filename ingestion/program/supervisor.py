"""Loading a participant's model, fitting it, and writing its predictions, numbered for any-time learning."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import os
import random
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.program.base import start_clock
from ingestion.program.data import Dataset, write_prediction
from ingestion.program.errors import DataError
from ingestion.program.shapes import PredictionError, as_prediction

OK, SUBMISSION_AT_FAULT, DATASET_AT_FAULT = 0, 1, 3
PREDICTED_PARTS = ("valid", "test")


class SubmissionError(Exception):
    """The submission is at fault; the text is one sentence for its author."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one submission on one dataset; return the exit code. Sentences go to standard error."""
    start_clock()
    parser = argparse.ArgumentParser(prog="python -m ingestion.program", description="Run a model.py.")
    parser.add_argument("--input", type=Path, required=True, help="folder of one dataset")
    parser.add_argument("--output", type=Path, required=True, help="folder for predictions")
    parser.add_argument("--submission", type=Path, required=True, help="folder that holds model.py")
    parser.add_argument("--load-models", action="store_true", help="use <name>_model.* instead of fitting")
    options = parser.parse_args(arguments)
    submission = options.submission.resolve()
    try:
        dataset = Dataset(options.input)
        work = Work(dataset, options.output.resolve(), submission)
        work.run(load_models=options.load_models)
    except DataError as error:
        return _say(f"The dataset cannot be read: {error}.", DATASET_AT_FAULT)
    except (SubmissionError, PredictionError) as error:
        return _say(f"{str(error)[:1].upper()}{str(error)[1:]}.", SUBMISSION_AT_FAULT)
    return OK


def _say(sentence: str, code: int) -> int:
    sys.stdout.flush()
    print(sentence, file=sys.stderr, flush=True)
    return code


class Work:
    """One submission on one dataset."""

    def __init__(self, dataset: Dataset, output: Path, submission: Path) -> None:
        self.dataset = dataset
        self.output = output
        self.submission = submission
        self._doing = "loading model.py"

    def run(self, *, load_models: bool) -> None:
        """Load the model, fit it (or load it where allowed) and write predictions for each part."""
        features, targets = self.dataset.features("train"), self.dataset.targets()
        if features.shape[0] != len(targets):
            raise DataError("train", f"{features.shape[0]} rows of features and {len(targets)} of targets")
        _seed()
        # Only a participant's code runs inside this try: its errors are told with its own frames alone.
        try:
            self._work(features, targets, load_models)
        except (DataError, SubmissionError, PredictionError):
            raise
        except SystemExit as end:
            if end.code in (None, 0):
                raise SubmissionError(
                    f"the code in model.py ended the program by itself while {self._doing}"
                ) from end
            raise SubmissionError(
                f"the code in model.py ended the program with code {end.code} while {self._doing}"
            ) from end
        except BaseException as error:
            sys.stdout.flush()
            sys.stderr.write(own_traceback(error, self.submission))
            raise SubmissionError(
                f"the code in model.py failed while {self._doing}: {_describe(error)}"
            ) from error

    def _work(self, features: Any, targets: Any, load_models: bool) -> None:
        model_class = load_class(self.submission)
        self._doing = f"making {model_class.__name__}()"
        model = make_model(model_class, self.dataset.info)
        trained = self._trained_model(model) if load_models else None
        if trained is not None:
            self._predict(trained, None)
            return
        self._doing = "running fit()"
        if not callable(getattr(model, "fit", None)):
            raise SubmissionError(f"the class {model_class.__name__} in model.py has no method fit")
        if not callable(getattr(model, "predict", None)):
            raise SubmissionError(f"the class {model_class.__name__} in model.py has no method predict")
        result = model.fit(features, targets)
        if not isinstance(result, Iterator):
            self._predict(model, None)
            return
        number = 0
        for _ in result:
            self._predict(model, number)
            number += 1
            self._doing = "running fit()"
        self._predict(model, number)

    def _trained_model(self, model: Any) -> Any | None:
        """The model that `load` gives, or None where no `<name>_model.*` is there for this dataset."""
        if not callable(getattr(model, "load", None)):
            return None
        prefix = f"{self.dataset.name}_model."
        if not any(path.name.startswith(prefix) for path in self.submission.iterdir() if path.is_file()):
            return None
        self._doing = "running load()"
        # The 2017 kit hands over the path up to `_model.*`, and some models return the loaded one.
        loaded = model.load(str(self.submission / self.dataset.name))
        return loaded if hasattr(loaded, "predict") else model

    def _predict(self, model: Any, number: int | None) -> None:
        ready = []
        for part in PREDICTED_PARTS:
            if not self.dataset.has(part):
                continue
            features = self.dataset.features(part)
            self._doing = f"running predict() for the {part} part"
            returned = model.predict(features)
            rows, columns = features.shape[0], self.dataset.targets_per_row
            ready.append((part, as_prediction(returned, part, rows, columns, self.dataset.task)))
        # All parts are written together, so that a number is complete or absent.
        for part, values in ready:
            stem = f"{self.dataset.name}_{part}" + ("" if number is None else f"_{number:03d}")
            write_prediction(self.output, stem, values)


def _seed() -> None:
    """Seed random and numpy from PODIUM_SEED, so that repeats differ only where they are meant to."""
    try:
        seed = int(os.environ["PODIUM_SEED"])
    except (KeyError, ValueError):
        return
    random.seed(seed)
    np.random.seed(seed % 2**32)


def load_class(submission: Path) -> Any:
    """The class `Model` (or `model`) of the submission's model.py, with its folder on the path."""
    path = submission / "model.py"
    if not path.is_file():
        raise SubmissionError("the submission has no model.py")
    program = str(Path(__file__).resolve().parents[2])
    sys.path[:] = [
        str(submission),
        *(p for p in sys.path if p not in ("", str(submission), program)),
        program,
    ]
    spec = importlib.util.spec_from_file_location("model", path)
    if spec is None or spec.loader is None:
        raise SubmissionError("the file model.py cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules["model"] = module  # so that joblib and pickle find its classes
    spec.loader.exec_module(module)
    for name in ("Model", "model"):
        candidate = getattr(module, name, None)
        if inspect.isclass(candidate):
            return candidate
    raise SubmissionError("the file model.py defines no class Model")


def make_model(model_class: Any, info: dict[str, Any]) -> Any:
    """An instance, made with the info where the class asks for it and without arguments otherwise.

    A first argument with a default that is not named like info belongs to an inherited estimator.
    """
    try:
        parameters = list(inspect.signature(model_class).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    first = parameters[0] if parameters else None
    if first is None or first.kind is first.VAR_KEYWORD:
        return model_class()
    wanted = "info" in first.name or "meta" in first.name
    if first.kind is first.KEYWORD_ONLY:
        return model_class(**{first.name: info}) if wanted else model_class()
    if first.kind is first.VAR_POSITIONAL or first.default is first.empty or wanted:
        return model_class(info)
    return model_class()


def own_traceback(error: BaseException, submission: Path) -> str:
    """The traceback of an error with only those frames that lie in the submission's folder."""
    told = traceback.TracebackException.from_exception(error)
    waiting, seen = [told], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        own = [frame for frame in one.stack if Path(frame.filename).is_relative_to(submission)]
        one.stack = traceback.StackSummary.from_list(own)
        inner = [one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or [])]
        waiting.extend(next_one for next_one in inner if next_one is not None)
    text = "".join(told.format())
    return text.replace(str(submission) + os.sep, "")


def _describe(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "the memory did not suffice (MemoryError)"
    if isinstance(error, SyntaxError):
        return f"{Path(error.filename or 'model.py').name} line {error.lineno}: {error.msg}"
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        lines = []
    text = lines[0][:300].rstrip(".") if lines else ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
