"""What changes a competition. Each action checks, then changes in one transaction, and leaves an audit entry."""

from competitions.actions.people import entrant_of, join, locked_entrant

__all__ = ["entrant_of", "join", "locked_entrant"]
