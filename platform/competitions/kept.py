"""The audit log is kept as it was written: the database refuses to change an entry, whoever asks it.

The triggers are made again after every migration, because SQLite rebuilds a table to change a column and forgets
its triggers then. One change goes through: the reference to a person becomes empty when the account is deleted;
the user name stays. Entries go with their competition, so deleting is not refused here but by the model.
"""

from typing import Any

from django.db import connections

from competitions.models import AuditEntry

TRIGGER = "podium_audit_is_kept"
MESSAGE = "the audit log is kept as it was written"

SQLITE = """
CREATE TRIGGER {trigger} BEFORE UPDATE ON {table} WHEN NOT ({same})
BEGIN SELECT RAISE(ABORT, '{message}'); END
"""
POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION {trigger}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '{message}'; END $$
"""
POSTGRESQL = """
CREATE TRIGGER {trigger} BEFORE UPDATE ON {table} FOR EACH ROW WHEN (NOT ({same}))
EXECUTE FUNCTION {trigger}()
"""


def keep(using: str = "default", **kwargs: Any) -> None:
    """Make the trigger of this database anew; a receiver of `post_migrate`."""
    connection = connections[using]
    table = AuditEntry._meta.db_table
    words = {"trigger": TRIGGER, "table": table, "message": MESSAGE, "same": _same(connection.vendor)}
    with connection.cursor() as cursor:
        if table not in connection.introspection.table_names(cursor):
            return
        if connection.vendor == "sqlite":
            cursor.execute(f"DROP TRIGGER IF EXISTS {TRIGGER}")
            cursor.execute(SQLITE.format(**words))
        else:
            cursor.execute(POSTGRESQL_FUNCTION.format(**words))
            cursor.execute(f"DROP TRIGGER IF EXISTS {TRIGGER} ON {table}")
            cursor.execute(POSTGRESQL.format(**words))


def _same(vendor: str) -> str:
    """The condition that nothing changes but the reference to a person, which may become empty."""
    equal = "IS" if vendor == "sqlite" else "IS NOT DISTINCT FROM"
    columns = [field.column for field in AuditEntry._meta.concrete_fields if field.name != "user"]
    parts = [f'NEW."{column}" {equal} OLD."{column}"' for column in columns]
    user = AuditEntry._meta.get_field("user").column
    return " AND ".join([*parts, f'(NEW."{user}" IS NULL OR NEW."{user}" {equal} OLD."{user}")'])
