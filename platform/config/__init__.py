"""Settings and entry points. Importing the Celery app here makes shared tasks use the site's broker."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
