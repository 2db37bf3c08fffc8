"""The definitions of all analyses as functions of arrays; nothing here knows of the database or of pages."""
