"""Files that organizers send to become datasets: received in pieces, read by a task, reported on one page."""
