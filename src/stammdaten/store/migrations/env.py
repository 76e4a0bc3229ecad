"""How Alembic runs a migration: on the connection that `schema.py` hands over, inside its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
