"""The site's own queue: scoring, dispatch and the reconciler. Compute workers never see this broker."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

from ingestion.broker import broker_options

app = Celery("podium")
app.conf.update(
    broker_url=settings.BROKER_URL,
    broker_transport_options=broker_options(settings.BROKER_URL, settings.PODIUM_HOME / "broker" / "site"),
    broker_connection_retry_on_startup=True,
    task_default_queue="site",
    task_serializer="json",
    accept_content=["json"],
    task_ignore_result=True,
    task_time_limit=900,
    task_soft_time_limit=870,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    timezone="UTC",
    beat_schedule_filename=str(settings.PODIUM_HOME / "beat-schedule"),
    beat_schedule={
        "reconcile": {"task": "submissions.reconcile", "schedule": 5.0, "options": {"expires": 30}},
        "lifecycle": {"task": "submissions.lifecycle", "schedule": 60.0, "options": {"expires": 55}},
        "curves": {"task": "submissions.score_curves", "schedule": 60.0, "options": {"expires": 55}},
        "uploads": {"task": "datasets.reconcile", "schedule": 10.0, "options": {"expires": 30}},
        "deletions": {"task": "submissions.finish_deletions", "schedule": 15.0, "options": {"expires": 30}},
        "mail": {"task": "competitions.reconcile", "schedule": 15.0, "options": {"expires": 30}},
        "bulk": {"task": "submissions.work_on_bulk", "schedule": 15.0, "options": {"expires": 30}},
        "bundles": {"task": "bundles.reconcile", "schedule": 15.0, "options": {"expires": 30}},
        "bundle_files": {"task": "bundles.sweep", "schedule": 1800.0, "options": {"expires": 600}},
        "analyses": {"task": "analysis.reconcile", "schedule": 15.0, "options": {"expires": 30}},
        "common_metric": {
            "task": "analysis.score_by_common_metric",
            "schedule": 60.0,
            "options": {"expires": 55},
        },
        "meta_features": {"task": "analysis.meta_features", "schedule": 60.0, "options": {"expires": 55}},
        "old_analyses": {"task": "analysis.sweep", "schedule": 1800.0, "options": {"expires": 600}},
        "sweep": {"task": "submissions.sweep", "schedule": 1800.0, "options": {"expires": 600}},
    },
)
app.autodiscover_tasks(["datasets", "competitions", "submissions", "analysis", "bundles"])
