"""What the evaluation page says about each metric. Source: the chapter's equations, as `scoring` computes them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MetricText:
    """One metric in words."""

    key: str
    title: str
    used_for: str
    meaning: str
    formula: str
    normalised: str
    note: str = ""


METRIC_TEXTS = {
    text.key: text
    for text in (
        MetricText(
            "R2",
            "coefficient of determination",
            "regression",
            "The share of the variance of the targets that the predictions explain.",
            "R2 = 1 − ⟨(y − q)²⟩ / ⟨(y − m)²⟩, with m = ⟨y⟩ over the scored solution",
            "as it is: predicting the mean everywhere gives 0",
        ),
        MetricText(
            "ABS",
            "one minus the relative absolute error",
            "regression",
            "Like R2, with absolute differences, so that single large errors weigh less.",
            "ABS = 1 − ⟨|y − q|⟩ / ⟨|y − m|⟩, with m = ⟨y⟩ over the scored solution",
            "as it is: predicting the mean everywhere gives 0",
        ),
        MetricText(
            "BAC",
            "balanced accuracy",
            "classification",
            "The accuracy within each class, averaged over the classes, so that rare classes count as much as "
            "frequent ones.",
            "Binary and multi-label: the mean over columns of (TPR + TNR) / 2, at the threshold q ≥ 0.5. "
            "Multi-class: the mean over classes of the recall; the predicted class is the largest of the row",
            "(BAC − R) / (1 − R), with R = 0.5, or 1/C for C classes",
            "Guessing scores 0 on average.",
        ),
        MetricText(
            "AUC",
            "area under the ROC curve",
            "classification",
            "How well the predicted values order positive samples before negative ones; only the order matters.",
            "The rank statistic of each column, ties counted half, averaged over columns without weights",
            "2 · AUC − 1",
            "Guessing scores 0 on average. Values outside the range of the solution are clipped, which can merge "
            "them.",
        ),
        MetricText(
            "F1",
            "harmonic mean of precision and recall",
            "classification",
            "Rewards finding the positive samples without false alarms.",
            "2 · P · R / (P + R) of each column, binarised as for BAC, averaged over columns",
            "(F1 − R) / (1 − R), with R as for BAC",
            "Only on balanced classes does guessing score 0 on average: with 20 % positives a uniform guess has "
            "about −0.43.",
        ),
        MetricText(
            "PAC",
            "probabilistic accuracy",
            "classification",
            "How much probability was given to what is true: the exponential of minus the cross-entropy.",
            "exp(−CE). Multi-class rows are divided by their sum; binary and multi-label columns are averaged. "
            "Probabilities are clipped to [1e−15, 1 − 1e−15]",
            "(PAC − R) / (1 − R), with R the PAC of predicting the class frequencies of the scored solution",
            "Predicting the class frequencies scores 0. One confident mistake costs much.",
        ),
    )
}
