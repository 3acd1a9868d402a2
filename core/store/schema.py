"""The tables of a workspace, as SQLAlchemy Core.

Judgements are stored, not votes: a `question` of some kind has options (items), a voter's `assignment`
answers it with a `judgement`. A vote is a counted judgement of a comparison. Ratings, target groups and
best–worst come in as further kinds without a migration of votes.

Item order inside a comparison is `question_option.position` (0 first, 1 second); what a voter saw is
`task_question.flipped` (first on the right) with the order of the tokens of each side.
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


def _id() -> Column:
    return Column("id", Integer, primary_key=True)


def _to(table: str, *, name: str | None = None, primary_key: bool = False, nullable: bool = False) -> Column:
    """A foreign key to `table`, with its rows going when the parent goes."""
    key = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return Column(name or f"{table}_id", key, primary_key=primary_key, nullable=nullable)


def _text(name: str, *, nullable: bool = False, default: str | None = None) -> Column:
    return Column(name, Text, nullable=nullable, server_default=default)


def _since(version: str, column: Column) -> Column:
    """A column that came with a later migration: exported projects from before it lack it (`project_zip`)."""
    column.info["since"] = version
    return column


def _count(name: str) -> Column:
    return Column(name, Integer, nullable=False, server_default="0")


project = Table(
    "project",
    metadata,
    Column("id", Text, primary_key=True),
    _text("name"),
    _text("kind"),  # real, trial or demo: only trial and demo projects take simulated votes
    _text("notion"),  # relatedness (|cos|) or similarity (cos)
    Column("seed", Integer, nullable=False),
    _count("revision"),  # goes up in every command: key of every cache, check against stale edits
    _text("created_at"),
    _text("archived_at", nullable=True),
    Column("item_rules", JSON),  # which pairs become items: a sample, exclusions; NULL for all pairs
    _since("0002", _text("ranking", default="all")),  # one ranking over all areas, or one per area
    _since("0004", _count("pulse")),  # votes given and taken back on the voting page: they raise no revision
    CheckConstraint("kind IN ('real', 'trial', 'demo')", name="kind"),
    CheckConstraint("notion IN ('relatedness', 'similarity')", name="notion"),
    CheckConstraint("ranking IN ('all', 'area')", name="ranking"),
)

log = Table(
    "log",
    metadata,
    _id(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("revision", Integer, nullable=False),
    _text("at"),
    _text("who"),
    _text("action"),
    Column("detail", JSON, nullable=False),
)

embedding = Table(
    "embedding",
    metadata,
    Column("id", Text, primary_key=True),  # the start of the content's SHA-256; names its folder
    _text("name"),
    _text("format"),
    Column("n_words", Integer, nullable=False),
    Column("dimensions", Integer, nullable=False),
    _text("content_hash"),
    _text("source"),
    Column("info", JSON, nullable=False),
    _text("imported_at"),
)

project_embedding = Table(
    "project_embedding",
    metadata,
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), primary_key=True),
    Column("embedding_id", ForeignKey("embedding.id"), primary_key=True),
    _text("name"),  # the project's own name for it
    Column("subwords", Boolean, nullable=False, server_default="0"),  # fastText: vectors of words it never saw
    _text("added_at"),
    # How tokens are looked up (core/embeddings/look_up.py): missing ones in lower case too; those of several words
    _since("0002", Column("lower", Boolean, nullable=False, server_default="0")),
    _since("0002", _text("multiword", default="as they are")),
    UniqueConstraint("project_id", "name"),
    sqlite_with_rowid=False,
)

area = Table(
    "area",
    metadata,
    _id(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    _text("name"),
    Column("position", Integer, nullable=False),
    UniqueConstraint("project_id", "name"),
)

token = Table(
    "token",
    metadata,
    _id(),
    _to("area"),
    _text("text"),
    Column("position", Integer, nullable=False),
    _text("origin", default="given"),  # given, or neighbour:<embedding id> for a model's own proposals
    UniqueConstraint("area_id", "text"),
)

item = Table(
    "item",
    metadata,
    _id(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    _to("area"),
    Column("position", Integer, nullable=False),  # 0…N−1 within the project: the index kernels work with
    _to("token", name="token_a_id"),
    _to("token", name="token_b_id"),
    Column("similarity", Float),  # what simulated voters of a demo or trial project believe in; else NULL
    UniqueConstraint("project_id", "position"),
    UniqueConstraint("token_a_id", "token_b_id"),
)

# Where a project's token frequencies come from: a list of one's own (kept under uploads/), or a proxy.
frequency_source = Table(
    "frequency_source",
    metadata,
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), primary_key=True),
    _text("kind"),  # corpus, rank or wordfreq
    _text("label"),
    _text("sha256", nullable=True),
    Column("embedding_id", ForeignKey("embedding.id")),
    _text("language", nullable=True),
    Column("share", Float, nullable=False),
    Column("lower", Boolean, nullable=False),
)

plan = Table(
    "plan",
    metadata,
    _id(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False, index=True),
    _text("protocol"),
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
    _text("created_at"),
    _since("0002", _to("area", nullable=True)),  # the area it is for where each has a ranking of its own
)

ballot = Table(
    "ballot",
    metadata,
    _id(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    _to("plan"),
    Column("number", Integer, nullable=False),
    _text("code"),  # start of its task ids; follows from what was drawn, so that files of another draw are known
    _text("state"),
    _text("protocol"),
    Column("appearances", Integer, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("n_items", Integer, nullable=False),
    Column("n_comparisons", Integer, nullable=False),
    _count("n_tied"),  # items tied at the cut that chose this ballot, and how many of them were drawn in
    _count("n_tied_kept"),
    Column("slope", Float),  # b̂ of Eq. 6 at closing; NULL for ballot 1 and while open
    Column("interval_note", Text),  # why the scores have no intervals, where they have none
    _text("drawn_at"),
    _text("closed_at", nullable=True),
    _since("0002", _to("area", nullable=True)),  # as in its plan
    _since("0002", Column("progress", JSON)),  # written by each command that changes its votes; NULL: count anew
    _since(
        "0003", Column("fit", JSON)
    ),  # of a closed ballot: what the estimator says of itself, what another would change
    UniqueConstraint("project_id", "area_id", "number"),
    CheckConstraint("state IN ('open', 'closed')", name="state"),
)
# NULLs differ from each other, so the constraint alone would let a ranking over all areas have the same ballot twice.
Index(
    "uq_ballot_of_all_areas", ballot.c.project_id, ballot.c.number, unique=True,
    sqlite_where=ballot.c.area_id.is_(None), postgresql_where=ballot.c.area_id.is_(None),
)  # fmt: skip

ballot_item = Table(
    "ballot_item",
    metadata,
    _to("ballot", primary_key=True),
    _to("item", primary_key=True),
    Column("entry_score", Float),  # the ȳ that let it in; NULL in ballot 1
    _count("wins"),
    _count("ties"),
    _count("losses"),
    _count("unknowns"),
    Column("x", Float),
    Column("y", Float),
    Column("mean", Float),  # ȳ at closing, with the number of y's in it
    Column("count", Integer),
    Column("lower", Float),  # 90 % interval of the mean, voters resampled; NULL where there is none
    Column("upper", Float),
    sqlite_with_rowid=False,
)

# Protocol runoff: what the votes of all ballots up to this one say of every item, also of those cut before.
item_score = Table(
    "item_score",
    metadata,
    _to("ballot", primary_key=True),
    _to("item", primary_key=True),
    Column("theta", Float),  # Bradley–Terry, with its standard error
    Column("error", Float),
    Column("score", Float, nullable=False),  # the expected Borda score against the whole field
    Column("lower", Float),  # 90 % intervals of score and rank, voters resampled; NULL where there are none
    Column("upper", Float),
    Column("rank_lower", Float),
    Column("rank_upper", Float),
    info={"since": "0003"},
    sqlite_with_rowid=False,
)

task = Table(
    "task",
    metadata,
    _id(),
    _to("ballot"),
    Column("position", Integer, nullable=False),
    _text("code"),  # what files name the task by; a copy of the project keeps it
    UniqueConstraint("ballot_id", "position"),
    UniqueConstraint("ballot_id", "code"),
)

question = Table(
    "question",
    metadata,
    _id(),
    _to("ballot"),
    _text("kind"),  # comparison; later rating, group, best-worst
    _text("role"),  # main, or check (gold, repeat, overlap): checks never enter scores
    Column("n_wanted", Integer, nullable=False),
    _count("n_votes"),
    # Votes it has, leases of the voting page, and the third and later "I don't know": the fewest are dealt first.
    _since("0004", _count("n_dealt")),
    Index("ix_question_ballot_id", "ballot_id"),
    Index("ix_question_ballot_id_role_n_dealt_id", "ballot_id", "role", "n_dealt", "id"),
)

question_option = Table(
    "question_option",
    metadata,
    _to("question", primary_key=True),
    Column("position", Integer, primary_key=True),
    _to("item"),
    sqlite_with_rowid=False,
)

task_question = Table(
    "task_question",
    metadata,
    _to("task", primary_key=True),
    Column("n", Integer, primary_key=True),
    _to("question"),
    Column("flipped", Boolean, nullable=False),
    Column("left_swapped", Boolean, nullable=False),
    Column("right_swapped", Boolean, nullable=False),
    Index("ix_task_question_question_id", "question_id"),
    sqlite_with_rowid=False,
)

voter = Table(
    "voter",
    metadata,
    _id(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    _text("platform"),
    _text("external_id"),
    _text("kind"),  # person or simulated, for ever
    UniqueConstraint("project_id", "platform", "external_id"),
    CheckConstraint("kind IN ('person', 'simulated')", name="kind"),
)

upload = Table(
    "upload",
    metadata,
    _id(),
    _to("ballot"),
    _text("platform"),
    _text("filename"),
    _text("sha256"),  # names the file kept under uploads/
    Column("n_bytes", Integer, nullable=False),
    Column("n_rows", Integer, nullable=False),
    Column("counts", JSON, nullable=False),
    _text("accepted_at"),
    _text("withdrawn_at", nullable=True),
    _since("0002", Column("effect", JSON)),  # what accepting it changed: voters, moves in the top of the ranking
    Index("ix_upload_ballot_id", "ballot_id"),
)

assignment = Table(
    "assignment",
    metadata,
    _id(),
    _to("ballot"),
    _to("voter"),
    _to("upload", nullable=True),
    _to("task", nullable=True),
    _text("external_id"),
    _text("status"),
    _text("submitted_at", nullable=True),
    UniqueConstraint("ballot_id", "voter_id", "external_id"),
    Index("ix_assignment_upload_id", "upload_id"),
)

judgement = Table(
    "judgement",
    metadata,
    _id(),
    _to("assignment"),
    _to("question"),
    _text("answer"),  # first, second, tie or unknown for a comparison
    Column("value", Float),  # 1 first, 0 second, .5 tie; NULL where there is no vote
    Column("seconds", Float),
    _text("status"),  # counted, unknown, rejected, repeat, withdrawn
    _text("source"),  # person or simulated, for ever
    UniqueConstraint("assignment_id", "question_id"),
    Index("ix_judgement_question_id_status", "question_id", "status"),
    CheckConstraint("status IN ('counted', 'unknown', 'rejected', 'repeat', 'withdrawn')", name="status"),
    CheckConstraint("source IN ('person', 'simulated')", name="source"),
)

# Voting on Runoff's own page, set up for one ballot.
voting = Table(
    "voting",
    metadata,
    _id(),
    _to("ballot"),
    _text("state"),
    Column("settings", JSON, nullable=False),
    _text("opened_at"),
    _text("closed_at", nullable=True),
    UniqueConstraint("ballot_id"),
    CheckConstraint("state IN ('open', 'paused', 'closed')", name="state"),
    info={"since": "0004"},
)

# The address of a ranking's voting page, the same for all its ballots. It is this workspace's, so it isn't exported.
voting_link = Table(
    "voting_link",
    metadata,
    _id(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    _to("area", nullable=True),
    _text("code"),
    _text("secret"),  # signs cookies and forms, and hashes the ids of platforms
    UniqueConstraint("code"),
    Index("ix_voting_link_project_id", "project_id"),
    info={"since": "0004"},
)

# Personal links: this workspace's too.
invitation = Table(
    "invitation",
    metadata,
    _id(),
    _to("voting_link"),
    _text("name"),
    _text("token"),
    UniqueConstraint("voting_link_id", "name"),
    UniqueConstraint("token"),
    info={"since": "0004"},
)

# A voter on the voting page of a ballot.
sitting = Table(
    "sitting",
    metadata,
    _id(),
    _to("voting"),
    _to("voter"),
    _text("state"),
    _count("n_examples"),  # worked through
    _count("n_tasks"),  # begun
    _count("n_done"),  # tasks finished
    _count("gold_right"),
    _count("gold_wrong"),
    Column("counts", Boolean, nullable=False, server_default="1"),  # false: too many checks wrong, votes kept aside
    _text("began_at"),
    _text("seen_at"),
    _text("finished_at", nullable=True),
    _text("code", nullable=True),  # the completion code that was shown
    UniqueConstraint("voting_id", "voter_id"),
    Index("ix_sitting_voter_id", "voter_id"),
    CheckConstraint("state IN ('voting', 'finished', 'stopped')", name="state"),
    info={"since": "0004"},
)

# A comparison given to a voter: it is theirs until it is answered, or its time is over.
deal = Table(
    "deal",
    metadata,
    _id(),
    _to("sitting"),
    _to("question"),
    _to("assignment", nullable=True),
    Column("task", Integer, nullable=False),  # 1, 2, … of the voter
    Column("n", Integer, nullable=False),  # 1, 2, … in the task
    _text("kind"),
    Column("flipped", Boolean, nullable=False),
    Column("left_swapped", Boolean, nullable=False),
    Column("right_swapped", Boolean, nullable=False),
    _text("state"),
    _text("expires_at"),
    _text("answered_at", nullable=True),
    UniqueConstraint("sitting_id", "task", "n"),
    UniqueConstraint("sitting_id", "question_id", "kind"),
    Index("ix_deal_question_id_state", "question_id", "state"),
    Index("ix_deal_state_expires_at", "state", "expires_at"),
    Index("ix_deal_answered_at", "answered_at"),
    Index("ix_deal_assignment_id", "assignment_id"),
    CheckConstraint("kind IN ('main', 'gold', 'repeat')", name="kind"),
    CheckConstraint("state IN ('open', 'answered', 'released')", name="state"),
    info={"since": "0004"},
)

# The right answer of a check: a question of the role `check`.
gold = Table(
    "gold",
    metadata,
    _to("question", primary_key=True),
    _text("answer"),
    CheckConstraint("answer IN ('first', 'second')", name="answer"),
    sqlite_with_rowid=False,
    info={"since": "0004"},
)

# What voters told of themselves, counted: nothing leads from a count back to a voter.
voter_trait = Table(
    "voter_trait",
    metadata,
    _to("voting", primary_key=True),
    Column("trait", Text, primary_key=True),
    Column("value", Text, primary_key=True),
    _count("n"),
    sqlite_with_rowid=False,
    info={"since": "0004"},
)

# A plan with its seeds and rules as it was frozen before ballot 1, to be shown later.
registration = Table(
    "registration",
    metadata,
    _id(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False, index=True),
    _text("sha256"),
    _text("content"),
    _text("at"),
    info={"since": "0003"},
)

# What simulated campaigns gave, by a hash of all that they depend on: no project's own, and made again when it is gone.
simulation = Table(
    "simulation",
    metadata,
    Column("key", Text, primary_key=True),
    Column("params", JSON, nullable=False),
    Column("result", JSON, nullable=False),
    _text("at"),
)

job = Table(
    "job",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), index=True),
    _text("kind"),
    Column("params", JSON, nullable=False),
    _text("state"),
    Column("pid", Integer),
    Column("done", Float, nullable=False, server_default="0"),
    Column("total", Float, nullable=False, server_default="0"),
    _text("message", default=""),
    Column("result", JSON),
    _text("error", nullable=True),
    _text("created_at"),
    _text("started_at", nullable=True),
    _text("heartbeat_at", nullable=True),
    _text("ended_at", nullable=True),
    CheckConstraint("state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="state"),
)
