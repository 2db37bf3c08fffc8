"""What the chapter says of the challenge of 2015/16 that no table of its organizers holds."""

from datasets.models import Metric
from scoring import names

SOURCE = "Scores published after the AutoML challenge of 2015/16 (LishengSun/AutoML-2016-simulations-and-analyses)"
SLUG = "automl-2016-replayed"
TITLE = "AutoML challenge 2015/16, replayed"
SUMMARY = "Six rounds, thirty datasets, nine systems: the scores that the organizers published, analysed here."
OVERVIEW = """\
This competition is over. It was loaded from the tables that the organizers of the ChaLearn AutoML challenge of
2015/16 published with the chapter "Analysis of the AutoML Challenge Series 2015-2018".

- **Nine systems** were run again by the authors on the test sets of all thirty datasets. `reference` is the
  organizers' own; it is ranked with the others, as in the tables. `marcboulle` is a selective naive Bayes.
- **Four basic methods**, with their libraries' defaults and with tuned hyper-parameters, stand beside them
  without a place.
- **Predictions** were published for twenty datasets: those of `aad_freiburg` within its budget, and those of
  basic models. They were scored here, and stand on the boards without a place, too.

Scores in the tables are rounded to two or three digits. What was not published, such as the entries of the
challenge itself, their times and their code, is not here. Error bars were published as the standard deviation over
subsamples of a tenth of the test set; the boards show a third of that, which is what it means as a standard error.
"""
TITLES = "Round {number}, run again"
DESCRIPTION = "The {count} datasets of round {number} ({name}), test part. The runs were made after the challenge."

# Entropy of the test solutions' classes over its largest value, from the chapter's table.
CLASS_BALANCE = {
    "adult": 0.995, "digits": 1.0, "dorothea": 0.461, "newsgroups": 0.997, "christine": 1.0, "jasmine": 1.0,
    "madeline": 1.0, "philippine": 1.0, "sylvine": 1.0, "albert": 1.0, "dilbert": 1.0, "fabert": 0.964,
    "robert": 1.0, "volkert": 0.886, "alexis": 0.920, "dionis": 0.995, "grigoris": 0.869, "jannis": 0.802,
    "wallis": 0.916, "evita": 0.225, "helena": 0.901, "tania": 0.793, "arturo": 0.999, "carlo": 0.094,
    "marco": 0.510, "waldo": 0.999,
}  # fmt: skip
# PAC of predicting the class frequencies, exp(-entropy): from the balance above where no solution was published.
PRIOR_PAC = {
    "newsgroups": 0.0505, "dilbert": 0.2, "fabert": 0.1532, "volkert": 0.1301, "tania": 0.8995, "carlo": 0.9371,
}  # fmt: skip


def raw_value(value: float, metric: str, *, task: str, classes: int, name: str = "") -> float:
    """The value of a metric before it was normalised, which the tables do not hold."""
    short = names.canonical_metric(metric)
    if short in (Metric.R2, Metric.ABS):
        return value
    base = 0.5
    if short == Metric.PAC:
        base = PRIOR_PAC[name]
    elif short != Metric.AUC and task == "multiclass.classification":
        base = 1 / classes
    return value * (1 - base) + base
