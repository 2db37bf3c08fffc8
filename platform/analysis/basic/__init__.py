"""The basic methods that the platform runs itself, to learn how hard the datasets of a competition are.

`program` is what runs in the sandbox, next to nothing else; `archives` packs it as submissions; `running` puts
these into a phase and takes them out again.
"""
