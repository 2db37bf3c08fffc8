"""Settings and entry points of the site."""
