"""The one exception whose text a person may read."""


class Refused(Exception):
    """An action was refused by a rule; nothing was changed.

    `message` is one sentence for the person who asked; `status` is the HTTP status that says the same;
    `mend` tells what to do, where there is something.
    """

    def __init__(self, message: str, *, status: int = 400, mend: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.message} {self.mend}".strip()
