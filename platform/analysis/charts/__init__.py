"""Altair specifications of the kinds of pictures that the analyses need."""
