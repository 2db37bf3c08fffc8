"""Running an installation: the demo, the supervisor, the doctor."""
