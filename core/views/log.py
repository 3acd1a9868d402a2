"""The log of a project in words: who did what when, and the newest head of its chain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..base.numbers_in_words import many
from ..store import Store, chain
from ..store.ballots.ballot_rows import called
from ..store.schema.ballots import CAMPAIGN, ROUND, TRIAL
from .wording import moment

# What each command of the store is called for people. `{name}` is taken from the entry's details; `{ballot}` may be the
# pilot, or a round of another kind of question.
SENTENCES = {
    "create project": "Made the project {name}",
    "change project": "Changed the settings: name {name}, notion {notion}",
    "import project": "Imported the project from a file",
    "duplicate project": "Made this project as a copy",
    "archive project": "Archived the project",
    "restore project": "Restored the project",
    "demo is ready": "Finished the demo",
    "add areas": "Added token lists",
    "change area": "Changed the tokens of {area}",
    "change areas": "Changed the tokens of several areas",
    "add near tokens": "Added near words of an embedding to {area}",
    "delete area": "Deleted the area {area}",
    "bring area back": "Brought back the area {area}",
    "correct spelling": "Corrected the spelling of {old} to {new} in {area}",
    "set item rules": "Changed which pairs become items",
    "set ranking": "Chose the ranking: {ranking}",
    "set frequencies": "Chose where token frequencies come from",
    "add embedding": "Added an embedding",
    "import embedding": "Imported the embedding {name}",
    "encode tokens": "Added the model {name}",
    "allow server": "Let the project send its tokens to {address}",
    "forbid server": "Let the project no longer send its tokens to {address}",
    "remove embedding": "Removed an embedding",
    "set subwords": "Changed how an embedding treats missing words",
    "set look-up": "Changed how tokens are looked up in {name}",
    "apply remedy": "Had missing tokens looked up {remedy}",
    "take remedy back": "Had missing tokens no longer looked up {remedy}",
    "set what simulated voters believe": "Gave simulated voters what they believe",
    "save plan": "Saved the plan",
    "plan round": "Saved the plan for {kind}",
    "register plan": "Registered the plan, so that it can be shown to have stood before the votes",
    "draw ballot": "Drew {ballot}",
    "discard ballot": "Discarded the draw of {ballot}",
    "draw round": "Drew round {round} of another kind of question",
    "discard round": "Discarded the draw of round {round}",
    "simulate answers": "Let simulated people answer round {round}",
    "close round": "Closed round {round}",
    "reopen round": "Reopened round {round}",
    "set policy": "Chose what counts: rejected answers {rejected}, of repeats {repeats}",
    "map columns": "Named the columns of a table of votes",
    "forget columns": "Forgot the columns of a table of votes",
    "import archived": "Rebuilt the project from archived results",
    "accept upload": "Accepted votes for {ballot} from {file}",
    "withdraw upload": "Withdrew {file} from {ballot}",
    "review assignments": "Approved or rejected assignments of {ballot}",
    "publish ballot": "Published {ballot} on {platform}",
    "fetch results": "Fetched results from {platform}",
    "simulate votes": "Let simulated voters answer {ballot}",
    "open voting": "Opened the voting page for {ballot}, or changed its settings",
    "voting open": "Resumed voting for {ballot}",
    "voting paused": "Paused voting for {ballot}",
    "voting closed": "Closed the voting page of {ballot}",
    "renew voting link": "Replaced the voting page's link",
    "invite voters": "Made personal links for voters",
    "confirm address": "Said that the address {address} is the owner's Turkle",
    "withdraw voter": "Removed the votes of a voter who withdrew consent",
    "withdraw voters": "Removed the votes of {voters} voters",
    "exclude voters": "Left voters out: {reason}",
    "readmit voters": "Let voters count again",
    "switch server on": "Switched on that {model} at {address} may be asked",
    "switch server off": "Switched a server of models off",
    "ask language model": "Asked {model} about {ballot}",
    "add checks": "Added checks to {ballot}",
    "remove check": "Removed a check from {ballot}",
    "close ballot": "Closed {ballot}",
    "reopen ballot": "Reopened {ballot}",
    "describe dataset": "Changed what the datasheet says in the owner's words",
    "release dataset": "Released the dataset as version {version}",
}
# Votes are of ballots; a round of another kind gets answers.
OF_ROUNDS = {"accept upload": "Accepted answers for {ballot} from {file}"}
RANKINGS = {"all": "one over all areas", "area": "one for each area"}
COLUMNS = ("time (UTC)", "who", "what", "details", "revision")
# Keys that would say too little as they are.
_CALLED = {"lower": "lower case"}
_PLACE = re.compile(r"\{(\w+)\}")
_NUMBERED = {"ballot", "round"}
_LONGEST = 6  # members of a list that are told
SHORT = 12  # digits of a head that are shown; it is copied whole
_PLURALS = {"items", "comparisons", "tasks", "votes", "voters", "judgements"}
_UNTOLD = {"embedding", "proposed by", "from", "wording", "settings"}  # kept in the log, of no use to a reader


@dataclass(frozen=True)
class NewestHead:
    """The newest head of a project's chain, 64 hexadecimal digits, and its entry; answers that aren't sealed yet."""

    entry: int
    head: str
    n_unsealed: int

    @property
    def said(self) -> str:
        """Which head it is, in a line of Markdown.

        >>> NewestHead(57, "9086b3e5dbb2358dd4e7" + "0" * 44, 2).said
        'Head of entry 57: `9086b3e5dbb2…`; 2 assignments came since'
        """
        since = f"; {many(self.n_unsealed, 'assignment')} came since" if self.n_unsealed else ""
        return f"Head of entry {self.entry:,}: `{self.head[:SHORT]}…`{since}"


def newest_head(store: Store, project_id: str) -> NewestHead | None:
    """The head that an owner notes outside the workspace; None for a project without a chain."""
    with store.read() as conn:
        newest = chain.newest_head(conn, project_id)
        return None if newest is None else NewestHead(*newest, chain.n_unsealed(conn, project_id))


def log_table(entries: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A row an entry, in the order given: time (UTC), who, what, details, revision."""
    rows = [
        {
            "time (UTC)": moment(entry["at"]),
            "who": entry["who"],
            "what": what(entry["action"], entry["detail"]),
            "details": details(entry["action"], entry["detail"]),
            "revision": entry["revision"],
        }
        for entry in entries
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def what(action: str, detail: Mapping[str, Any]) -> str:
    """What was done, in a sentence; a command without one is named as it is.

    >>> what("draw ballot", {"ballot": 2, "area": "Tools"}), what("set sails", {})
    ('Drew ballot 2 of Tools', 'Set sails')
    >>> what("draw ballot", {"ballot": 0}), what("accept upload", {"round": 1, "file": "a.csv"})
    ('Drew the pilot', 'Accepted answers for round 1 from a.csv')
    """
    values = {key: RANKINGS.get(str(value), str(value)) for key, value in detail.items()}
    if "ballot" in detail:
        values["ballot"] = called(detail["ballot"], CAMPAIGN if detail["ballot"] else TRIAL)
    if "round" in detail:
        values["ballot"] = called(detail["round"], ROUND)
    sentence = OF_ROUNDS.get(action) if "round" in detail else None
    sentence = sentence or SENTENCES.get(action)
    if sentence is None or not set(_PLACE.findall(sentence)) <= set(values):
        return action.capitalize()
    text = sentence.format(**values)
    if _NUMBERED & set(detail) and "area" in detail:
        return f"{text} of {values['area']}"
    return text


def details(action: str, detail: Mapping[str, Any]) -> str:
    """The rest of an entry, in words.

    >>> details("close ballot", {"ballot": 2, "votes": 1200, "slope": 0.5})
    '1,200 votes; slope 0.5'
    """
    sentence = SENTENCES.get(action, "")
    parts = []
    for key, value in detail.items():
        is_said = f"{{{key}}}" in sentence or key == "round" or (key == "area" and bool(_NUMBERED & set(detail)))
        is_file = key == "sha256" and "file" in detail  # a file is named by its name
        if not is_said and not is_file and key not in _UNTOLD and value not in (None, "", [], {}):
            parts.append(_entry_text(key, value))
    return "; ".join(parts)


def _entry_text(key: str, value: Any) -> str:
    """One detail of an entry: its name and its value."""
    name = _CALLED.get(key, key.replace("_", " "))
    if isinstance(value, bool):
        return f"{name}: yes" if value else f"{name}: no"
    if name in _PLURALS and isinstance(value, int):
        return many(value, "answer" if name == "judgements" else name.removesuffix("s"))
    if key == "counts":
        return ", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in value.items())
    if isinstance(value, Mapping):
        return f"{name}: " + ", ".join(_member_text(part, inner) for part, inner in value.items())
    if isinstance(value, list | tuple):
        return f"{name}: {_list_text(value)}"
    return f"{name} {value if key == 'seed' else _value_text(value)}"


def _member_text(name: str, value: Any) -> str:
    """One member of a detail that has several: its name and its value."""
    if isinstance(value, bool):
        return _entry_text(name, value)
    if isinstance(value, list | tuple):
        is_tokens = bool(value) and isinstance(value[0], str)
        return f"{name} ({many(len(value), 'token') if is_tokens else _list_text(value)})"
    if isinstance(value, Mapping):
        return f"{name} ({', '.join(_entry_text(part, inner) for part, inner in value.items())})"
    return f"{name} {_value_text(value)}"


def _value_text(value: Any) -> str:
    """One value: numbers as people write them, anything else as it is."""
    if isinstance(value, int | float):
        return format(value, "g" if isinstance(value, float) else ",")
    return str(value)


def _list_text(values: list | tuple) -> str:
    """The first `_LONGEST` values, and how many more there are."""
    text = ", ".join(map(_value_text, values[:_LONGEST]))
    more = len(values) - _LONGEST
    return f"{text} and {more:,} more" if more > 0 else text
