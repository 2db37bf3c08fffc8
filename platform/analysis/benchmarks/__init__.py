"""Benchmarks of many configurations on many datasets, in MementoML's format: read, kept, analysed, given back.

Source of the format: Kretowicz, Biecek, "MementoML: performance of selected machine learning algorithm
configurations on OpenML100 datasets" (arXiv:2008.13162).
"""
