"""The challenge of 2015/16, from scores that its organizers published, as a competition that is over."""
