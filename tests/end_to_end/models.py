"""Submissions of the end-to-end tests: small programs in numpy."""

LEAST_SQUARES = """
import numpy as np

class Model:
    def fit(self, X, y):
        self.weights = np.linalg.lstsq(np.c_[X, np.ones(len(X))], np.asarray(y, float), rcond=None)[0]

    def predict(self, X):
        return np.c_[X, np.ones(len(X))] @ self.weights
"""

# Answers at once and goes on until its time is over: the any-time rule makes its answer count.
NEVER_ENDING = (
    LEAST_SQUARES.replace("class Model:\n    def fit(self, X, y):", "class Model:\n    def learn(self, X, y):")
    + """
    def fit(self, X, y):
        import time
        self.learn(X, y)
        print("first answer is ready", flush=True)
        yield
        while True:
            time.sleep(0.2)
"""
)

# Takes some seconds, so that a test can look at it while it runs.
SLOW_FIT = "        import time\n        print('learning', flush=True)\n        time.sleep(6)\n"
START = "    def fit(self, X, y):\n"
SLOW = LEAST_SQUARES.replace(START, START + SLOW_FIT)

SYNTAX_ERROR = "class Model:\n    def fit(self, X y):\n        pass\n"
CRASHING = LEAST_SQUARES.replace(
    "        self.weights", "        raise RuntimeError('out of ideas')\n        self.weights"
)
WRONG_SHAPE = LEAST_SQUARES.replace("        return np", "        return np.zeros(7)\n        return np")
# A command of its own that ends well and writes nothing.
SILENT = {"metadata": "command: python3 $program/nothing.py\n", "nothing.py": "print('I did my best')\n"}
