"""Halves what is left."""


class Player:
    def __init__(self):
        self.low, self.high, self.last = 0, 100, None

    def guess(self, answer):
        if answer == "more":
            self.low = self.last + 1
        elif answer == "less":
            self.high = self.last - 1
        self.last = (self.low + self.high) // 2
        return self.last
