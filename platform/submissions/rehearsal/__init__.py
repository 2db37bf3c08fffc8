"""Rehearsals: a competition's course on a clock of its own, with small made datasets and simulated entrants.

`start` makes the copy, `advance` moves its clock from one moment of the calendar to the next and lets the entrants
submit, `report` tells what came of it. What happens to submissions, runs, hand-overs and boards is the very code
that serves people; only the clock, the datasets and the budgets are others.
"""
