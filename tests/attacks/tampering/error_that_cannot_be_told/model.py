class Twisted(Exception):
    def __str__(self):
        raise Twisted

    __repr__ = __str__


class Model:
    def fit(self, X, y):
        cause = Twisted()
        for _ in range(5000):
            one = Twisted()
            one.__cause__ = cause
            cause = one
        raise cause

    def predict(self, X):
        return X[:, 0]
