"""What one audience may see of a competition, as arrays: the only way of scores and names into an analysis.

Everybody sees of a phase what nobody can turn into an answer any more: the feedback part when the phase is over,
the test part when it is released, of boards that are shown. Organizers who see what is hidden see all of it
sooner.
"""
