"""Changes of the schema, one file each under versions/; each change and its record are one transaction."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory


def configuration() -> Config:
    """Alembic's settings, without an ini file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config


def upgrade(conn: sa.Connection, revision: str = "head") -> None:
    """Bring the database behind `conn` to `revision` inside the caller's transaction."""
    config = configuration()
    config.attributes["connection"] = conn
    command.upgrade(config, revision)


def head() -> str | None:
    """The newest migration in the folder."""
    return ScriptDirectory.from_config(configuration()).get_current_head()
