"""Runoff's own voting page: its settings, links, voters and what they were given."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, CheckConstraint, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from .parts import count_, here_, id_, metadata, since_, text_, to_

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
