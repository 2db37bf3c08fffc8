"""What the challenge's authors computed by hand after a challenge, for every competition.

`measures` are functions of arrays. `inputs` load what one audience may see of a competition. `sections` put both
together into a `results.Result`, which pages, commands, exports and the report show alike. `work` keeps results by
the hash of their inputs.
"""
