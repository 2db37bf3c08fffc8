"""What the demo competition says about itself. Markdown, as an organizer would write it."""

SLUG = "demo"
TITLE = "AutoML in miniature"
SUMMARY = "A whole series on small data: tweak, be tested blind, go on. By code that learns without its author."

OVERVIEW = """\
Can a program solve a learning task that its author has never seen? In this competition you submit **code**,
not answers. Podium runs it on each dataset, with nobody at the keyboard: it reads the training data, learns,
and predicts for samples whose answers stay hidden, all within a fixed time.

## What has happened so far

The series is as long as the real one: months of tweaking, then a blind test. On this site the calendar was moved
on, so that you find it in the middle.

- In **Tweakathon[0]** three entrants worked on three public datasets: the starting kit's sample code, a linear
  model, and a file of predictions without code.
- **Final[0]** showed the test scores of those very entries.
- In **AutoML[1]** the code of both programs met three datasets that nobody had seen. The file of predictions had
  no place there.
- Those three datasets are now open in **Tweakathon[1]**. Entries were carried over; yours can join them.

## Three steps to a first score

1. Register, log in and press **Join**.
2. Download the **starting kit**. It holds a sample submission that already works, sample data, and
   `kit.py`, which runs a submission on your own machine by the very code that is used here.
3. Upload the zip under **Submit**, and watch it run.

## What the tasks are like

Classification and regression, a few hundred samples each. One program has to cope with all of them: it is told
the kind of task, the metric and its time when it starts. What waits in AutoML[2], it will see there.
"""

EVALUATION = """\
Each dataset is split into three parts. Your program sees the training part with its answers, and the
validation and test parts without. **While a Tweakathon is open its leaderboard shows scores of the validation
part.** The test part decides in the Final and AutoML phases.

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
- **The code of your latest submission goes forward by itself** to the next AutoML phase and, where you submit
  nothing new, to the Tweakathon after it. Results alone do not.
- Each dataset has its own time budget on the wall clock. Predictions that were complete before the time was
  up count, although the program was then stopped.
- Each dataset is a run of its own. Time left over is not carried to another.
- Your program has no network and sees nothing but its input.
- One account a person. Share what you like; this series is for learning.
"""

TWEAKATHON = (
    "Submit code or results and see validation scores at once. Five submissions a day; the latest one counts."
)
TWEAKATHON_LATER = (
    "The datasets of the blind test are open now. Entries were carried over from AutoML[1] and stand until their "
    "entrants submit. Submit code or results and see validation scores at once."
)
FINAL = (
    "No submitting. The test scores of everybody's last Tweakathon entry are revealed, "
    "and with them the final places."
)
AUTOML = (
    "No submitting. The code of everybody's last Tweakathon entry runs on new datasets that nobody has seen, "
    "without its author."
)
PRIZE = "First place, with the honour alone"
