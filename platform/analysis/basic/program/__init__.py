"""Basic methods as submissions: nearest neighbours, naive Bayes, forest, linear model, selective naive Bayes.

This folder is part of the archive that the platform sends. It reads nothing of the site, only numpy, scipy,
scikit-learn and the platform's base class for models.
"""

from .model import BasicModel

__all__ = ["BasicModel"]
