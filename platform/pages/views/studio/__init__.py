"""Views of the studio, one module for each section."""
