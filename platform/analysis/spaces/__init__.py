"""Comparing sets of models by their errors and complexities: from files, competitions and benchmarks."""
