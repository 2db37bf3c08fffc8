"""Boards of columns: what organizers' scoring programs say of each submission, and who leads by it."""

from leaderboards.columns.keeping import is_programmed, recomputed, refresh, refresh_now, stored

__all__ = ["is_programmed", "recomputed", "refresh", "refresh_now", "stored"]
