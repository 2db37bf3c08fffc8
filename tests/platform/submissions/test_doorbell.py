"""Doorbells go to the broker of those who listen."""

from submissions import doorbell


def test_a_doorbell_for_workers_goes_to_their_broker_also_from_inside_a_celery_worker(monkeypatch, settings):
    settings.COMPUTE_BROKER_URL = "redis://127.0.0.1:6379/1"
    monkeypatch.setenv("CELERY_BROKER_URL", "redis://127.0.0.1:6379/0")
    doorbell.compute_app.cache_clear()
    try:
        assert doorbell.compute_app().connection_for_write().virtual_host == "1"
    finally:
        doorbell.compute_app.cache_clear()
