"""The log of a project in words: who did what when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from ..spoken import say, to_say, written
from .words import called, many, moment

# What each command of the store is called for people. `{name}` is taken from the entry's details; `{ballot}` may be the
# pilot, or a round of another scheme.
SENTENCES = {
    "create project": to_say("Made the project {name}"),
    "change project": to_say("Changed the settings: name {name}, notion {notion}"),
    "import project": to_say("Imported the project from a file"),
    "duplicate project": to_say("Made this project as a copy"),
    "archive project": to_say("Put the project away"),
    "restore project": to_say("Took the project out again"),
    "demo is ready": to_say("Finished the demo"),
    "add areas": to_say("Added token lists"),
    "change area": to_say("Changed the tokens of {area}"),
    "change areas": to_say("Changed the tokens of several areas"),
    "add near tokens": to_say("Added near words of an embedding to {area}"),
    "delete area": to_say("Deleted the area {area}"),
    "correct spelling": to_say("Corrected the spelling of {old} to {new} in {area}"),
    "set item rules": to_say("Changed which pairs become items"),
    "set ranking": to_say("Chose the ranking: {ranking}"),
    "set frequencies": to_say("Chose where token frequencies come from"),
    "add embedding": to_say("Added an embedding"),
    "import embedding": to_say("Imported the embedding {name}"),
    "encode tokens": to_say("Added the sentence encoder {name}"),
    "remove embedding": to_say("Removed an embedding"),
    "set subwords": to_say("Changed how an embedding treats missing words"),
    "set look-up": to_say("Changed how tokens are looked up in {name}"),
    "set what simulated voters believe": to_say("Gave simulated voters what they believe"),
    "save plan": to_say("Saved the plan"),
    "register plan": to_say("Registered the plan, so that it can be shown to have stood before the votes"),
    "draw ballot": to_say("Drew {ballot}"),
    "discard ballot": to_say("Discarded the draw of {ballot}"),
    "draw round": to_say("Drew round {round} of another scheme"),
    "discard round": to_say("Discarded the draw of round {round}"),
    "simulate answers": to_say("Let simulated people answer round {round}"),
    "close round": to_say("Closed round {round}"),
    "reopen round": to_say("Reopened round {round}"),
    "set policy": to_say("Chose what counts: rejected answers {rejected}, of repeats {repeats}"),
    "map columns": to_say("Named the columns of a table of votes"),
    "forget columns": to_say("Forgot the columns of a table of votes"),
    "import archived": to_say("Rebuilt the project from archived results"),
    "accept upload": to_say("Took votes for {ballot} from {file}"),
    "withdraw upload": to_say("Withdrew {file} from {ballot}"),
    "review assignments": to_say("Approved or rejected assignments of {ballot}"),
    "publish ballot": to_say("Published {ballot} on {platform}"),
    "fetch results": to_say("Fetched results from {platform}"),
    "simulate votes": to_say("Let simulated voters answer {ballot}"),
    "open voting": to_say("Opened the voting page for {ballot}, or changed its settings"),
    "voting open": to_say("Resumed voting for {ballot}"),
    "voting paused": to_say("Paused voting for {ballot}"),
    "voting closed": to_say("Closed the voting page of {ballot}"),
    "renew voting link": to_say("Gave the voting page another link"),
    "invite voters": to_say("Made personal links for voters"),
    "confirm address": to_say("Said that the address {address} is the owner's Turkle"),
    "withdraw voter": to_say("Took the votes of a voter out, who took consent back"),
    "withdraw voters": to_say("Took the votes of {voters} voters out"),
    "exclude voters": to_say("Left voters out: {reason}"),
    "readmit voters": to_say("Let voters count again"),
    "add checks": to_say("Added checks to {ballot}"),
    "remove check": to_say("Took a check away from {ballot}"),
    "close ballot": to_say("Closed {ballot}"),
    "reopen ballot": to_say("Reopened {ballot}"),
    "describe dataset": to_say("Changed what the datasheet says in the owner's words"),
    "release dataset": to_say("Released the dataset as version {version}"),
}
# Votes are of ballots; a round of another scheme gets answers.
OF_ROUNDS = {"accept upload": to_say("Took answers for {ballot} from {file}")}
WHO = (to_say("owner"), to_say("voters"), to_say("voter"))
RANKINGS = {"all": to_say("one over all areas"), "area": to_say("one for each area")}
COLUMNS = (to_say("time (UTC)"), to_say("who"), to_say("what"), to_say("details"), to_say("revision"))
# Keys of details that an entry tells with their values, beside those that `_PLURALS` counts.
NAMES = (
    *(to_say("name"), to_say("kind"), to_say("seed"), to_say("areas"), to_say("tokens"), to_say("before")),
    *(to_say("slope"), to_say("cut audit"), to_say("tied at the cut"), to_say("true top 10 cut, expected")),
    *(to_say("source"), to_say("file"), to_say("files"), to_say("columns"), to_say("protocol"), to_say("checks")),
    *(
        to_say("label"),
        to_say("share"),
        to_say("lower case"),
        to_say("language"),
        to_say("multiword"),
        to_say("subwords"),
    ),
    *(to_say("sample size"), to_say("excluded"), to_say("merge shared"), to_say("ballots scored anew")),
    *(to_say("rejected"), to_say("repeats"), to_say("answers that changed"), to_say("approved"), to_say("reasons")),
    *(to_say("decision taken back"), to_say("votes out"), to_say("votes back"), to_say("address"), to_say("batch")),
    *(to_say("scheme"), to_say("bytes"), to_say("version"), to_say("changed"), to_say("new"), to_say("answers")),
    *(to_say("sitting"), to_say("sittings"), to_say("embeddings missing"), to_say("former project"), to_say("copy of")),
    to_say("name asked for"),
    *(to_say("n ballots"), to_say("keep"), to_say("appearances"), to_say("reason"), to_say("notion"), to_say("ballot")),
)
# Keys that would say too little as they are.
_CALLED = {"lower": "lower case"}
_PLACE = re.compile(r"\{(\w+)\}")
_NUMBERED = {"ballot", "round"}
_LONGEST = 6  # members of a list that are told
_PLURALS = {"items", "comparisons", "tasks", "votes", "voters", "judgements"}
_UNTOLD = {"embedding", "proposed by", "from", "wording", "settings"}  # kept in the log, of no use to a reader


def log_table(entries: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A row an entry, in the order given: time (UTC), who, what, details, revision."""
    rows = [
        {
            "time (UTC)": moment(entry["at"]),
            "who": say(entry["who"]),
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
    ('Drew the pilot', 'Took answers for round 1 from a.csv')
    """
    named = {key: say(RANKINGS.get(str(value), str(value))) for key, value in detail.items()}
    if "ballot" in detail:
        named["ballot"] = called(detail["ballot"])
    if "round" in detail:
        named["ballot"] = called(-detail["round"])
    sentence = OF_ROUNDS.get(action) if "round" in detail else None
    sentence = sentence or SENTENCES.get(action)
    if sentence is None or not set(_PLACE.findall(sentence)) <= set(named):
        return action.capitalize()
    told = say(sentence, **named)
    if _NUMBERED & set(detail) and "area" in detail:
        return say("{done} of {area}", done=told, area=named["area"])
    return told


def details(action: str, detail: Mapping[str, Any]) -> str:
    """The rest of an entry, in words.

    >>> details("close ballot", {"ballot": 2, "votes": 1200, "slope": 0.5})
    '1,200 votes; slope 0.5'
    """
    sentence = SENTENCES.get(action, "")
    told = []
    for key, value in detail.items():
        is_said = f"{{{key}}}" in sentence or key == "round" or (key == "area" and bool(_NUMBERED & set(detail)))
        is_file = key == "sha256" and "file" in detail  # a file is named by its name
        if not is_said and not is_file and key not in _UNTOLD and value not in (None, "", [], {}):
            told.append(_told(key, value))
    return "; ".join(told)


def _told(key: str, value: Any) -> str:
    english = _CALLED.get(key, key.replace("_", " "))
    name = say(english)
    if isinstance(value, bool):
        return say("{name}: yes", name=name) if value else say("{name}: no", name=name)
    if english in _PLURALS and isinstance(value, int):
        return many(value, "answer" if english == "judgements" else english.removesuffix("s"))
    if key == "counts":
        return ", ".join(say("{n:,} {kind}", n=n, kind=say(kind.replace("_", " "))) for kind, n in value.items())
    if isinstance(value, Mapping):
        return f"{name}: " + ", ".join(_member(part, inner) for part, inner in value.items())
    if isinstance(value, list | tuple):
        return f"{name}: {_listed(value)}"
    return f"{name} {value if key == 'seed' else _shown(value)}"


def _member(part: str, value: Any) -> str:
    name = say(part)
    if isinstance(value, bool):
        return _told(part, value)
    if isinstance(value, list | tuple):
        is_tokens = bool(value) and isinstance(value[0], str)
        return f"{name} ({many(len(value), 'token') if is_tokens else _listed(value)})"
    if isinstance(value, Mapping):
        return f"{name} ({', '.join(_told(part, inner) for part, inner in value.items())})"
    return f"{name} {_shown(value)}"


def _shown(value: Any) -> str:
    """One value: numbers as the language writes them, anything else as it is."""
    if isinstance(value, int | float):
        return written(value, "g" if isinstance(value, float) else ",")
    return str(value)


def _listed(values: list | tuple) -> str:
    told = ", ".join(map(_shown, values[:_LONGEST]))
    more = len(values) - _LONGEST
    return say("{items} and {n:,} more", items=told, n=more) if more > 0 else told
