"""The organizers' actions that the pages offer, one module for each part of the studio."""
