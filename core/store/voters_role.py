"""The voters' role on PostgreSQL: what the server of the voting page may read and write, and nothing else.

It reads what a comparison shows and what voters were given, adds voters and answers, and counts. It deletes nothing and
sees no log, embedding, upload, setting of the owner, similarity or score. SQLite has no roles: there the server has the
whole file, and only its code keeps to `core.voting.api`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import sqlalchemy as sa

from ..base.durable import make_folder
from ..errors import InputError, StoreError
from . import dialects
from . import schema as t
from .engine import HEAD, Store, default_workspace, schema_version

ALL = "*"
# What may be read of each table: all columns, or those named.
READS: Mapping[sa.Table, str] = {
    t.voting_link: ALL,
    t.invitation: "voting_link_id, name, token",
    t.project: "id, notion, archived_at, pulse",
    t.plan: "id, wording, n_ballots",
    t.ballot: "id, project_id, area_id, plan_id, purpose, kind, ordinal, settings, state, progress",
    t.voting: "id, ballot_id, state, settings, opened_at, address_salt",
    t.sitting: ALL,
    t.deal: ALL,
    t.voter_trait: ALL,
    t.voter: "id, project_id, platform, external_id",
    t.gold: ALL,
    t.check_question: ALL,
    t.exclusion: "id, voter_id, undone_at",
    t.question: ALL,
    t.question_option: ALL,
    t.task_question: ALL,
    t.ballot_item: "ballot_id, item_id, wins, ties, losses, unknowns",
    t.item: "id, area_id, token_a_id, token_b_id",
    t.token: "id, text",
    t.area: "id, name",
    t.assignment: "id, ballot_id, voter_id",
    t.judgement: ALL,
}
ADDS = (t.voter, t.sitting, t.voter_trait, t.deal, t.assignment, t.judgement)
# Which columns of rows that are there may be changed.
CHANGES: Mapping[sa.Table, str] = {
    t.project: "pulse",
    t.ballot: "progress",
    t.question: "n_votes, n_dealt",
    t.ballot_item: "wins, ties, losses, unknowns",
    t.deal: "state, expires_at, answered_at, answer_n, assignment_id",
    t.sitting: "n_examples, n_tasks, n_done, gold_right, gold_wrong, counts, seen_at, state, finished_at, code, nonce",
    t.judgement: "answer, value, seconds, status, source",
    t.voter_trait: "n",
}
_ROLE = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def role_sql(role: str) -> list[str]:
    """The statements that make a role where there is none, and give it exactly these rights.

    Raises `InputError` for a name that isn't lower case letters, digits and underscores.
    """
    if not _ROLE.fullmatch(role):
        raise InputError(f"{role!r} isn't a name for a role. Take lower case letters, digits and underscores.")
    absent = f"NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}')"  # nosec B608 # checked above
    made = f"IF {absent} THEN CREATE ROLE {role} LOGIN; END IF;"
    statements = [
        f"DO $$ BEGIN {made} END $$",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}",
        f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM {role}",
        f"GRANT USAGE ON SCHEMA public TO {role}",
        f"GRANT SELECT ON alembic_version TO {role}",
    ]
    for table, columns in READS.items():
        statements.append(f"GRANT SELECT{_listed(columns)} ON {table.name} TO {role}")
    for table in ADDS:
        statements.append(f"GRANT INSERT ON {table.name} TO {role}")
        if "id" in table.c:
            statements.append(f"GRANT USAGE ON SEQUENCE {table.name}_id_seq TO {role}")
    for table, columns in CHANGES.items():
        statements.append(f"GRANT UPDATE{_listed(columns)} ON {table.name} TO {role}")
    return statements


def _listed(columns: str) -> str:
    return "" if columns == ALL else f" ({columns})"


def grant_role(store: Store, role: str) -> None:
    """Make the voters' role in a workspace's database, or bring its rights up to date.

    Raises `StoreError` where the workspace isn't in PostgreSQL, or the owner's role may not make others.
    """
    if not dialects.is_postgresql(store.engine):
        raise StoreError(f"The workspace is in SQLite, which has no roles. Set {dialects.DATABASE} first.")
    with store.write() as conn:
        for statement in role_sql(role):
            conn.exec_driver_sql(statement)


def open_by_role() -> Store:
    """The workspace as `RUNOFF_VOTING_DATABASE_URL` reaches it: nothing is made or migrated.

    Raises `StoreError` where the database can't be reached or isn't of this schema.
    """
    url = dialects.url_of(dialects.VOTERS_DATABASE)
    if url is None:
        raise StoreError(f"{dialects.VOTERS_DATABASE} is empty.")
    store = Store(default_workspace(), dialects.postgresql().make_engine(url, "voters"))
    make_folder(store.folder, 0o700)
    with store.read() as conn:
        version = schema_version(conn)
    if version != HEAD:
        raise StoreError(
            f"{dialects.name_of(store.engine, starts=True)} has {f'schema {version}' if version else 'no tables'}, and "
            f"this Runoff needs {HEAD}. Open the workspace with the owner's role first, then run `core voters-role`."
        )
    return store
