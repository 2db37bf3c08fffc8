"""Runs of competitions that bring their own programs: what meets a submission, where, and what scores it."""
