"""The one place where state lives: a workspace folder with a database, changed by commands only.

A workspace is a folder (`RUNOFF_WORKSPACE`, else the platform's data folder): `runoff.sqlite`, `uploads/` (every
accepted file under its hash), `embeddings/` (memory maps), `incoming/`, `backups/`, `runoff.log`.

* Two databases, one code: `RUNOFF_DATABASE_URL` puts the tables into PostgreSQL; files stay in the folder. What the two
  do differently stands in `dialects`, which asks `postgresql` (imported only then). There whole numbers have 64 bits,
  text is compared by bytes, JSON stays its text, ids come off sequences, rows go in by COPY. Migrations 0001 to 0004
  are SQLite's, later ones run on both. Address and folder are bound to each other (`database.json`, a comment on
  `alembic_version`).
* `command` opens a transaction with `BEGIN IMMEDIATE`, raises the project's revision and writes the log in it. The
  driver's own transaction handling is switched off: it begins late and loses updates.
* On PostgreSQL a project's writers come one by one: READ COMMITTED, and first of all two advisory locks that end with
  the transaction, the workspace's (shared) and the project's. So each statement sees what the writer before has
  written, a counted tally can't be overtaken by a vote, and nobody waits in a circle. `Store.write()` without a project
  has the workspace for itself. A look is REPEATABLE READ, READ ONLY.
* Areas are written without foreign keys (`Store.without_keys`): for each deleted token the database would read the
  items and votes of all projects.
* Migrations are Alembic's, run at start inside one transaction, after a backup. A column that came later says since
  when (`info["since"]`), so that exports of earlier schemas still come in.

Tables: `project` → `area` → `token`; `item`; `plan`; `ballot` → `ballot_item`, `task` → `task_question` → `question` →
`question_option`; `voter`; `upload` → `assignment` → `judgement`; `embedding` and `project_embedding`; `job`; `log`. Of
the voting page: `voting` → `sitting` → `deal`; `gold`, `check_question`; `voting_link` → `invitation`, never exported.
"""

from .engine import Store, default_workspace, open_store

__all__ = ["Store", "default_workspace", "open_store"]
