"""Tables of ballots, of what voters and language models answered to them, and of Runoff's own voting page.

Of ballots there are questions, judgements and scores; of the voting page its settings, links, voters and what they were
given.

Answers of language models stand apart from judgements, so that no query of people's votes ever meets one: tallies,
progress, scores, agreement and closing read `judgement` alone.
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
    Table,
    Text,
    UniqueConstraint,
)

from .projects import count_, here_, id_, metadata, since_, text_, to_

CAMPAIGN, TRIAL, ROUND = "campaign", "pilot", "round"  # purposes of ballots

ballot = Table(
    "ballot",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    to_("plan", nullable=True),  # NULL for rounds, which have settings
    text_("purpose"),  # campaign, pilot or round
    text_("kind"),  # of its questions: comparison, or one of core/questions that rounds ask
    Column("ordinal", Integer, nullable=False),  # 1, 2, … of its purpose in its ranking; the pilot's is 0
    text_("code"),  # start of its task ids; follows from what was drawn, so that files of another draw are known
    text_("state"),
    text_("protocol"),
    Column("appearances", Integer, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("n_items", Integer, nullable=False),
    Column("n_comparisons", Integer, nullable=False),
    count_("n_tied"),  # items tied at the cut that chose this ballot, and how many of them were drawn in
    count_("n_tied_kept"),
    Column("slope", Float),  # b̂ of Eq. 6 at closing; NULL for ballot 1 and while open
    Column("interval_note", Text),  # why the scores have no intervals, where they have none
    text_("drawn_at"),
    text_("closed_at", nullable=True),
    since_("0002", to_("area", nullable=True)),  # as in its plan
    since_("0002", Column("progress", JSON)),  # written by each command that changes its votes; NULL: count anew
    since_(
        "0003", Column("fit", JSON)
    ),  # of a closed ballot: what the estimator says of itself, what another would change
    since_("0006", Column("settings", JSON)),  # of a round; NULL for comparisons, which a plan describes
    UniqueConstraint("project_id", "area_id", "purpose", "ordinal"),
    CheckConstraint("state IN ('open', 'closed')", name="state"),
    CheckConstraint("purpose IN ('campaign', 'pilot', 'round')", name="purpose"),
    CheckConstraint("(purpose = 'pilot') = (ordinal = 0) AND ordinal >= 0", name="ordinal"),
)
# NULLs differ from each other, so the constraint alone would let a ranking over all areas have the same ballot twice.
Index(
    "uq_ballot_of_all_areas", ballot.c.project_id, ballot.c.purpose, ballot.c.ordinal, unique=True,
    sqlite_where=ballot.c.area_id.is_(None), postgresql_where=ballot.c.area_id.is_(None),
)  # fmt: skip

ballot_item = Table(
    "ballot_item",
    metadata,
    to_("ballot", primary_key=True),
    to_("item", primary_key=True),
    Column("entry_score", Float),  # the ȳ that let it in; NULL in ballot 1
    count_("wins"),  # of best–worst: named best, neither, worst; a rating or an order counts as a tie
    count_("ties"),
    count_("losses"),
    count_("unknowns"),
    Column("x", Float),
    Column("y", Float),
    Column("mean", Float),  # ȳ at closing, with the number of y's in it
    Column("count", Integer),
    Column("lower", Float),  # 90% interval of the score; NULL where there is none
    Column("upper", Float),
    sqlite_with_rowid=False,
)

# Protocol runoff: what the votes of all ballots up to this one say of every item, also of those cut before.
item_score = Table(
    "item_score",
    metadata,
    to_("ballot", primary_key=True),
    to_("item", primary_key=True),
    Column("theta", Float),  # Bradley–Terry, with its standard error
    Column("error", Float),
    Column("score", Float, nullable=False),  # the expected Borda score against the whole field
    Column("lower", Float),  # 90% intervals of score and rank, voters resampled; NULL where there are none
    Column("upper", Float),
    Column("rank_lower", Float),
    Column("rank_upper", Float),
    info={"since": "0003"},
    sqlite_with_rowid=False,
)

task = Table(
    "task",
    metadata,
    id_(),
    to_("ballot"),
    Column("position", Integer, nullable=False),
    text_("code"),  # what files name the task by; a copy of the project keeps it
    UniqueConstraint("ballot_id", "position"),
    UniqueConstraint("ballot_id", "code"),
)

question = Table(
    "question",
    metadata,
    id_(),
    to_("ballot"),
    text_("kind"),  # that of its ballot
    text_("role"),  # main, or check (gold, repeat, overlap): checks never enter scores
    Column("n_wanted", Integer, nullable=False),
    count_("n_votes"),
    # Votes it has, leases of the voting page, and the third and later "I don't know": the fewest are given first.
    since_("0004", count_("n_dealt")),
    Index("ix_question_ballot_id", "ballot_id"),
    Index("ix_question_ballot_id_role_n_dealt_id", "ballot_id", "role", "n_dealt", "id"),
)

question_option = Table(
    "question_option",
    metadata,
    to_("question", primary_key=True),
    Column("position", Integer, primary_key=True),
    to_("item"),
    sqlite_with_rowid=False,
)

task_question = Table(
    "task_question",
    metadata,
    to_("task", primary_key=True),
    Column("n", Integer, primary_key=True),
    to_("question"),
    Column("flipped", Boolean, nullable=False),
    Column("left_swapped", Boolean, nullable=False),
    Column("right_swapped", Boolean, nullable=False),
    Index("ix_task_question_question_id", "question_id"),
    sqlite_with_rowid=False,
)

# The right answer of a check: a question of the role `check`.
gold = Table(
    "gold",
    metadata,
    to_("question", primary_key=True),
    text_("answer"),
    CheckConstraint("answer IN ('first', 'second')", name="answer"),
    sqlite_with_rowid=False,
    info={"since": "0004"},
)

# What a check of a ballot's draw is for; those of the voting page alone (`gold`) need no row here.
check_question = Table(
    "check_question",
    metadata,
    to_("question", primary_key=True),
    text_("kind"),
    to_("question", name="of_id", nullable=True),  # of a repeat or an overlap: the comparison that counts
    Column("inclusion", Float),  # of an audit: how probable it was that its first item, which was cut, is audited
    Index("ix_check_question_of_id", "of_id"),
    CheckConstraint("kind IN ('gold', 'repeat', 'overlap', 'audit')", name="kind"),
    sqlite_with_rowid=False,
    info={"since": "0005"},
)

voter = Table(
    "voter",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    text_("platform"),
    text_("external_id"),
    text_("kind"),  # person or simulated, for ever
    UniqueConstraint("project_id", "platform", "external_id"),
    CheckConstraint("kind IN ('person', 'simulated')", name="kind"),
)

upload = Table(
    "upload",
    metadata,
    id_(),
    to_("ballot"),
    text_("platform"),
    text_("filename"),
    text_("sha256"),  # names the file kept under uploads/
    Column("n_bytes", Integer, nullable=False),
    Column("n_rows", Integer, nullable=False),
    Column("counts", JSON, nullable=False),
    text_("accepted_at"),
    text_("withdrawn_at", nullable=True),
    since_("0002", Column("effect", JSON)),  # what accepting it changed: voters, moves in the top of the ranking
    since_("0005", Column("mapping", JSON)),  # which of its columns is which; NULL where they are a platform's own
    Index("ix_upload_ballot_id", "ballot_id"),
)

# What an entry of the log (its revision) sealed of an assignment: see core/store/chain.py.
seal = Table(
    "seal",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    Column("revision", Integer, nullable=False),
    text_("content"),
    Index("ix_seal_project_id_revision", "project_id", "revision"),
    info={"since": "0011"},
)

assignment = Table(
    "assignment",
    metadata,
    id_(),
    to_("ballot"),
    to_("voter"),
    to_("upload", nullable=True),
    to_("task", nullable=True),
    text_("external_id"),
    text_("status"),
    text_("submitted_at", nullable=True),
    since_("0005", text_("review", nullable=True)),  # what the owner decided: approve or reject, and why
    since_("0005", text_("review_reason", nullable=True)),
    # Its newest; NULL: what is answered in it is in no seal yet. It doesn't go with the seal.
    since_("0011", Column("seal_id", ForeignKey("seal.id"))),
    UniqueConstraint("ballot_id", "voter_id", "external_id"),
    Index("ix_assignment_upload_id", "upload_id"),
    Index("ix_assignment_seal_id", "seal_id"),
)

judgement = Table(
    "judgement",
    metadata,
    id_(),
    to_("assignment"),
    to_("question"),
    text_("answer"),  # unknown; of a comparison first, second or tie; else as core/questions/base.py writes it
    Column("value", Float),  # 1 first, 0 second, .5 tie; a rating; NULL where there is none
    Column("seconds", Float),
    text_("status"),  # counted, unknown, rejected, repeat, withdrawn, excluded
    text_("source"),  # person or simulated, for ever
    UniqueConstraint("assignment_id", "question_id"),
    Index("ix_judgement_question_id_status", "question_id", "status"),
    CheckConstraint("status IN ('counted', 'unknown', 'rejected', 'repeat', 'withdrawn', 'excluded')", name="status"),
    CheckConstraint("source IN ('person', 'simulated')", name="source"),
)

# A voter whose votes the owner left out, and why; undone_at says since when they count again.
exclusion = Table(
    "exclusion",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False, index=True),
    to_("voter"),
    text_("reason"),
    Column("detail", JSON, nullable=False),
    text_("at"),
    text_("undone_at", nullable=True),
    Index("ix_exclusion_voter_id", "voter_id"),
    info={"since": "0005"},
)

# A ballot's batch as it was put on a platform through its interface.
publication = Table(
    "publication",
    metadata,
    id_(),
    to_("ballot"),
    text_("platform"),
    text_("address"),
    Column("detail", JSON, nullable=False),  # what it is there: ids of project and batch, number of tasks
    text_("at"),
    text_("fetched_at", nullable=True),
    # False: the address came with an imported project, and the owner hasn't said yet that the token may go there.
    since_("0007", Column("confirmed", Boolean, nullable=False, server_default="1")),
    Index("ix_publication_ballot_id", "ballot_id"),
    info={"since": "0005"},
)


# Voting on Runoff's own page, set up for one ballot.
voting = Table(
    "voting",
    metadata,
    id_(),
    to_("ballot"),
    text_("state"),
    Column("settings", JSON, nullable=False),
    text_("opened_at"),
    text_("closed_at", nullable=True),
    here_(text_("address_salt", nullable=True)),  # hashes the addresses of its sessions; NULL once they are gone
    UniqueConstraint("ballot_id"),
    CheckConstraint("state IN ('open', 'paused', 'closed')", name="state"),
    info={"since": "0004"},
)

# The address of a ranking's voting page, the same for all its ballots. It is this workspace's, so it isn't exported.
voting_link = Table(
    "voting_link",
    metadata,
    id_(),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), nullable=False),
    to_("area", nullable=True),
    text_("code"),
    text_("secret"),  # signs cookies and forms; a renewed link has another
    text_("voter_secret"),  # hashes the ids of platforms: kept when the link is renewed, of all areas the same
    UniqueConstraint("code"),
    Index("ix_voting_link_project_id", "project_id"),
    info={"since": "0004"},
)

# Personal links: this workspace's too.
invitation = Table(
    "invitation",
    metadata,
    id_(),
    to_("voting_link"),
    text_("name"),
    text_("token"),
    UniqueConstraint("voting_link_id", "name"),
    UniqueConstraint("token"),
    info={"since": "0004"},
)

# A session: a voter on the voting page of a ballot. (The table's name is older.)
sitting = Table(
    "sitting",
    metadata,
    id_(),
    to_("voting"),
    to_("voter"),
    text_("state"),
    count_("n_examples"),  # worked through
    count_("n_tasks"),  # begun
    count_("n_done"),  # tasks finished
    count_("gold_right"),
    count_("gold_wrong"),
    Column("counts", Boolean, nullable=False, server_default="1"),  # false: too many checks wrong, votes kept aside
    text_("began_at"),
    text_("seen_at"),
    text_("finished_at", nullable=True),
    text_("code", nullable=True),  # the completion code that was shown
    # Random, and never given to another session: what a cookie names. NULL: of an imported project, or from before.
    here_(text_("nonce", nullable=True)),
    # The hash of where it began (`voting.address_salt`), while its ballot is open.
    here_(text_("address", nullable=True)),
    UniqueConstraint("voting_id", "voter_id"),
    Index("uq_sitting_nonce", "nonce", unique=True),
    Index("ix_sitting_voter_id", "voter_id"),
    CheckConstraint("state IN ('voting', 'finished', 'stopped')", name="state"),
    info={"since": "0004"},
)

# A lease: a comparison given to a voter. It is theirs until it is answered, or its time is over.
deal = Table(
    "deal",
    metadata,
    id_(),
    to_("sitting"),
    to_("question"),
    to_("assignment", nullable=True),
    Column("task", Integer, nullable=False),  # 1, 2, … of the voter
    Column("n", Integer, nullable=False),  # 1, 2, … in the task
    text_("kind"),
    Column("flipped", Boolean, nullable=False),
    Column("left_swapped", Boolean, nullable=False),
    Column("right_swapped", Boolean, nullable=False),
    text_("state"),
    text_("expires_at"),
    text_("answered_at", nullable=True),
    since_("0007", Column("answer_n", Integer)),  # 1, 2, … of the voter: the order of answers, whatever the clock does
    UniqueConstraint("sitting_id", "task", "n"),
    UniqueConstraint("sitting_id", "question_id", "kind"),
    Index("ix_deal_question_id_state", "question_id", "state"),
    Index("ix_deal_state_expires_at", "state", "expires_at"),
    Index("ix_deal_answered_at", "answered_at"),
    Index("ix_deal_assignment_id", "assignment_id"),
    CheckConstraint("kind IN ('main', 'gold', 'repeat', 'overlap', 'audit')", name="kind"),
    CheckConstraint("state IN ('open', 'answered', 'released')", name="state"),
    info={"since": "0004"},
)

# What voters told of themselves, counted: nothing leads from a count back to a voter.
voter_trait = Table(
    "voter_trait",
    metadata,
    to_("voting", primary_key=True),
    Column("trait", Text, primary_key=True),
    Column("value", Text, primary_key=True),
    count_("n"),
    sqlite_with_rowid=False,
    info={"since": "0004"},
)


# A record: a model asked about a ballot in one way. Answers of another model, prompt or wording have another record.
model_judge = Table(
    "model_judge",
    metadata,
    id_(),
    to_("ballot"),
    text_("address"),  # of the server; what came with a file is asked nothing (`project.servers`)
    text_("model"),  # as the owner named it; each answer says what the server called it
    Column("temperature", Float),  # NULL: the server's own
    Column("most_tokens", Integer),  # of an answer; NULL: the server's own bound
    text_("prompt"),  # what stands before each comparison
    Column("wording", JSON, nullable=False),  # of the ballot, as the prompt was made of it
    count_("n_wanted"),  # comparisons, each in both orders
    Column("input_price", Float),  # of a million tokens, in the money of the plan; NULL where nobody said
    Column("output_price", Float),
    text_("began_at"),
    Index("ix_model_judge_ballot_id", "ballot_id"),
    info={"since": "0009"},
)

# What came for a comparison in one order: a vote, or a reason why it is none. Everything that came is kept.
model_answer = Table(
    "model_answer",
    metadata,
    id_(),
    to_("model_judge"),
    to_("question"),
    Column("flipped", Boolean, nullable=False),  # the second item was A
    Column("attempt", Integer, nullable=False),  # 1, 2, …: what came and couldn't be read is asked again
    text_("prompt"),  # the comparison as it was sent, after the record's prompt
    text_("raw"),
    text_("answer", nullable=True),  # first, second or tie
    text_("reason", nullable=True),  # why it is no vote
    text_("revision"),  # the model as the server called it
    text_("fingerprint", nullable=True),  # of the server's set-up, where it says one
    Column("prompt_tokens", Integer),
    Column("answer_tokens", Integer),
    Column("seconds", Float, nullable=False),
    text_("at"),
    UniqueConstraint("model_judge_id", "question_id", "flipped", "attempt"),
    Index("ix_model_answer_question_id", "question_id"),
    CheckConstraint("answer IN ('first', 'second', 'tie')", name="answer"),
    CheckConstraint("(answer IS NULL) = (reason IS NOT NULL)", name="reason"),
    info={"since": "0009"},
)
