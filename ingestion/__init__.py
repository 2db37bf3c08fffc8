"""Running other people's code on datasets, under a budget.

This package knows neither the site nor the scores: labels and code never meet here. It is mounted into
sandboxes, where only `ingestion.program` is used, so nothing may be imported in this file.
"""
