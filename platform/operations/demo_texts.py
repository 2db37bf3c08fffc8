"""What the demo competition says about itself. Markdown, as an organizer would write it."""

SLUG = "demo"
TITLE = "Round 0: Preparation"
SUMMARY = "Five small public datasets to try the whole way: from a zip to a rank, by code that learns alone."

OVERVIEW = """\
Can a program solve a learning task that its author has never seen? In this competition you submit **code**,
not answers. Podium runs it on each of five datasets, with nobody at the keyboard: it reads the training
data, learns, and predicts for samples whose answers stay hidden, all within a fixed time.

Round 0 is for practice. The datasets are small and public, the budgets short, and your scores appear
minutes after your upload.

## Three steps to a first score

1. Register, log in and press **Join**.
2. Download the **starting kit**. It holds a sample submission that already works, sample data, and
   `kit.py`, which runs a submission on your own machine by the very code that is used here.
3. Upload the zip under **Submit**, and watch it run.

## What the tasks are like

Binary, multi-class and multi-label classification, and regression; dense and sparse data; up to a few
thousand samples. One program has to cope with all of them: it is told the kind of task, the metric and its
time when it starts.
"""

EVALUATION = """\
Each dataset is split into three parts. Your program sees the training part with its answers, and the
validation and test parts without. **While this phase is open the leaderboard shows scores of the validation
part.** The test part decides in the final phase.

Every metric is normalised, so that 0 is what guessing reaches and 1 is perfect; the same number means about
the same on every dataset. The figure after ± is a standard error: it tells how much a score would move on
other samples of the same kind.

On each dataset the entrants are ranked by their score, equal scores sharing a rank. The mean of these
ranks, ⟨R⟩, decides the place. A dataset without a score counts as the worst rank plus one. Where ⟨R⟩ is
equal, the earlier submission wins.
"""

RULES = """\
- Submit code, results, or both: a zip with `model.py`, a zip with prediction files, or one with either.
- Five submissions a day. A day ends at 00:00 UTC. What is refused at the door costs nothing.
- **Only your latest submission counts**, even if it is worse than an earlier one.
- Each dataset has its own time budget on the wall clock. Predictions that were complete before the time was
  up count, although the program was then stopped.
- Your program has no network and sees nothing but its input.
- One account a person. Share what you like; this round is for learning.
"""

TWEAKATHON = (
    "Submit code or results and see validation scores at once. Five submissions a day; the latest one counts."
)
FINAL = (
    "No submitting. The test scores of everybody's last Tweakathon entry are revealed, "
    "and with them the final places."
)
AUTOML = (
    "No submitting. The code of everybody's last Tweakathon entry runs on new datasets that nobody has seen, "
    "without its author."
)
