"""The mean of the values."""


def predict(values):
    return sum(values) / len(values)
