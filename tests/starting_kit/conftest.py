"""OpenMP reads its settings when scikit-learn is first imported; waiting threads must not spin in tests."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
