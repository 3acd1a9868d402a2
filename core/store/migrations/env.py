"""Run by Alembic: puts the migrations through on the connection it is given."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes.get("metadata"),
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
