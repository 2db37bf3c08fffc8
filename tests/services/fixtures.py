"""The services as fixtures of the whole suite: started when the first test asks, ended with the session."""

from collections.abc import Iterator

import pytest

from tests.services.brokers import Broker, rabbitmq_programs, rabbitmq_running, redis_program, redis_running
from tests.services.postgresql import PostgreSQL, postgresql_running, programs


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    binaries = programs()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    with postgresql_running(binaries) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def redis() -> Iterator[Broker]:
    program = redis_program()
    if program is None:
        pytest.skip("Redis is not installed (apt-get install redis-server)")
    with redis_running(program) as broker:
        yield broker


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[Broker]:
    folder = rabbitmq_programs()
    if folder is None:
        pytest.skip("RabbitMQ is not installed (apt-get install rabbitmq-server)")
    with rabbitmq_running(folder) as broker:
        yield broker
