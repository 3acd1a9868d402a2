"""Tables of projects, what they rank, embeddings of the workspace, simulations and jobs.

Simulations and jobs belong to this machine and to no project's file. What all tables are made of stands here too.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def id_() -> Column:
    return Column("id", Integer, primary_key=True)


def to_(table: str, *, name: str | None = None, primary_key: bool = False, nullable: bool = False) -> Column:
    """A foreign key to `table`, with its rows going when the parent goes."""
    key = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return Column(name or f"{table}_id", key, primary_key=primary_key, nullable=nullable)


def text_(name: str, *, nullable: bool = False, default: str | None = None) -> Column:
    return Column(name, Text, nullable=nullable, server_default=default)


def since_(version: str, column: Column) -> Column:
    """A column that came with a later migration: exported projects from before it lack it (`project_zip`)."""
    column.info["since"] = version
    return column


def here_(column: Column) -> Column:
    """A column that is this workspace's alone: it stands in no exported project, and is NULL in a copy."""
    column.info["here"] = True
    return column


def is_exported(column: Column) -> bool:
    """Whether a column stands in exported projects."""
    return not column.info.get("here", False)


def count_(name: str) -> Column:
    return Column(name, Integer, nullable=False, server_default="0")


# What simulated campaigns gave, by a hash of all that they depend on: no project's own, and made again when it is gone.
simulation = Table(
    "simulation",
    metadata,
    Column("key", Text, primary_key=True),
    Column("params", JSON, nullable=False),
    Column("result", JSON, nullable=False),
    text_("at"),
)

job = Table(
    "job",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), index=True),
    text_("kind"),
    Column("params", JSON, nullable=False),
    text_("state"),
    Column("pid", Integer),
    Column("done", Float, nullable=False, server_default="0"),
    Column("total", Float, nullable=False, server_default="0"),
    text_("message", default=""),
    Column("result", JSON),
    text_("error", nullable=True),
    text_("created_at"),
    text_("started_at", nullable=True),
    text_("heartbeat_at", nullable=True),
    text_("ended_at", nullable=True),
    CheckConstraint("state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="state"),
)


project = Table(
    "project",
    metadata,
    Column("id", Text, primary_key=True),
    text_("name"),
    text_("kind"),  # real, trial or demo: only trial and demo projects take simulated votes
    text_("notion"),  # relatedness (|cos|) or similarity (cos)
    Column("seed", Integer, nullable=False),
    count_("revision"),  # goes up in every command: key of every cache, check against stale edits
    text_("created_at"),
    text_("archived_at", nullable=True),
    Column("item_rules", JSON),  # which pairs become items: a sample, exclusions; NULL for all pairs
    since_("0002", text_("ranking", default="all")),  # one ranking over all areas, or one per area
    since_("0005", Column("policy", JSON)),  # what counts of rejected answers and of repeats; NULL: the default
    since_("0005", Column("datasheet", JSON)),  # what the owner says of the dataset (core/dataset/datasheet/facts.py)
    since_("0005", text_("voter_secret", nullable=True)),  # hashes voters' ids where the dataset is published
    since_("0004", count_("pulse")),  # votes given and taken back on the voting page: they raise no revision
    # Servers of models that may be asked, by what they are asked for: an import brings none. NULL: nothing is sent.
    since_("0009", here_(Column("servers", JSON))),
    CheckConstraint("kind IN ('real', 'trial', 'demo')", name="kind"),
    CheckConstraint("notion IN ('relatedness', 'similarity')", name="notion"),
    CheckConstraint("ranking IN ('all', 'area')", name="ranking"),
)

# People choose projects by their names, so of those that are listed no two have the same.
Index(
    "uq_project_listed_name", project.c.name, unique=True,
    sqlite_where=project.c.archived_at.is_(None), postgresql_where=project.c.archived_at.is_(None),
)  # fmt: skip

log = Table(
    "log",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("revision", Integer, nullable=False),
    text_("at"),
    text_("who"),
    text_("action"),
    Column("detail", JSON, nullable=False),
    since_("0011", text_("head", nullable=True)),  # of the chain (core/store/chain.py); NULL: from before it
)

embedding = Table(
    "embedding",
    metadata,
    Column("id", Text, primary_key=True),  # the start of the content's SHA-256; names its folder
    text_("name"),
    text_("format"),
    Column("n_words", Integer, nullable=False),
    Column("dimensions", Integer, nullable=False),
    text_("content_hash"),
    text_("source"),
    Column("info", JSON, nullable=False),
    text_("imported_at"),
)

project_embedding = Table(
    "project_embedding",
    metadata,
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), primary_key=True),
    Column("embedding_id", ForeignKey("embedding.id"), primary_key=True),
    text_("name"),  # the project's own name for it
    Column("subwords", Boolean, nullable=False, server_default="0"),  # fastText: vectors of words it never saw
    text_("added_at"),
    # How tokens are looked up (core/embeddings/vectors.py): missing ones in lower case too; those of several words
    since_("0002", Column("lower", Boolean, nullable=False, server_default="0")),
    since_("0002", text_("multiword", default="as they are")),
    UniqueConstraint("project_id", "name"),
    sqlite_with_rowid=False,
)

area = Table(
    "area",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    text_("name"),
    Column("position", Integer, nullable=False),
    UniqueConstraint("project_id", "name"),
)

token = Table(
    "token",
    metadata,
    id_(),
    to_("area"),
    text_("text"),
    Column("position", Integer, nullable=False),
    text_("origin", default="given"),  # given, or neighbour:<embedding id> for a model's own proposals
    UniqueConstraint("area_id", "text"),
)

item = Table(
    "item",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    to_("area"),
    Column("position", Integer, nullable=False),  # 0…N−1 within the project: the index kernels work with
    to_("token", name="token_a_id"),
    to_("token", name="token_b_id"),
    Column("similarity", Float),  # what simulated voters of a demo or trial project believe in; else NULL
    UniqueConstraint("project_id", "position"),
    UniqueConstraint("token_a_id", "token_b_id"),
)

# Where a project's token frequencies come from: a list of one's own (kept under uploads/), or a proxy.
frequency_source = Table(
    "frequency_source",
    metadata,
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), primary_key=True),
    text_("kind"),  # corpus, rank or wordfreq
    text_("label"),
    text_("sha256", nullable=True),
    Column("embedding_id", ForeignKey("embedding.id")),
    text_("language", nullable=True),
    Column("share", Float, nullable=False),
    Column("lower", Boolean, nullable=False),
)

plan = Table(
    "plan",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False, index=True),
    text_("protocol"),  # of comparisons; else the kind of question, with the settings of its rounds as the wording
    Column("n_items", Integer, nullable=False),
    Column("n_ballots", Integer, nullable=False),
    Column("keep", Float, nullable=False),
    Column("appearances", JSON, nullable=False),
    Column("task_size", Integer, nullable=False),
    Column("ties_allowed", Boolean, nullable=False),
    Column("n_voters", Integer, nullable=False),
    Column("seconds_per_comparison", Float, nullable=False),
    Column("reward", Float, nullable=False),
    Column("fee", Float, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("wording", JSON, nullable=False),
    text_("created_at"),
    since_("0002", to_("area", nullable=True)),  # the area it is for where each has a ranking of its own
    since_("0005", Column("checks", JSON)),  # the checks a ballot gets (core/ballots/checks.py); NULL: none
    since_("0010", text_("aim", nullable=True)),  # rho_w or tau_w (core/protocols/base.py: AIMS); NULL: both
)

# A plan with its seeds and rules as it was frozen before ballot 1, to be shown later.
registration = Table(
    "registration",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False, index=True),
    text_("sha256"),
    text_("content"),
    text_("at"),
    info={"since": "0003"},
)

# How the columns of a kind of result file are read, by its header: chosen once, remembered.
column_mapping = Table(
    "column_mapping",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    text_("header"),  # SHA-256 of the names of its columns
    Column("mapping", JSON, nullable=False),
    text_("at"),
    UniqueConstraint("project_id", "header"),
    info={"since": "0005"},
)

# A version of the dataset as it was published; its files are kept under uploads/.
release = Table(
    "release",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    text_("version"),
    text_("sha256"),
    text_("note"),
    Column("detail", JSON, nullable=False),
    text_("at"),
    UniqueConstraint("project_id", "version"),
    info={"since": "0005"},
)
