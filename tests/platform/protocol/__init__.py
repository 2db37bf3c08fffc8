"""The whole protocol as a state machine: anything that people, workers and the clock do, in any order."""
