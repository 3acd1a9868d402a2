"""How a ballot is put to voters on Runoff's own page: the settings, and what they may be."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from unicodedata import normalize
from urllib.parse import urlsplit

from ..errors import InputError, Issue
from ..i18n import translatable
from ..tabular.json_files import known_values

# What voters can be asked about themselves: only if the owner wants it, and each voter may leave it out. The values are
# kept as they stand here, whatever language they are shown in; so are the standard texts while nobody edits them.
TRAITS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "age": (
        translatable("Your age"),
        (
            translatable("under 18"), translatable("18 to 24"), translatable("25 to 34"), translatable("35 to 44"),
            translatable("45 to 54"), translatable("55 to 64"), translatable("65 or over"),
        ),
    ),
    "gender": (translatable("Your gender"), (translatable("woman"), translatable("man"), translatable("another"))),
    "education": (
        translatable("Your highest education so far"),
        (
            translatable("none"), translatable("primary school"), translatable("secondary school"),
            translatable("vocational training"), translatable("bachelor"), translatable("master or higher"),
        ),
    ),
    "native": (
        translatable("Is the language of these words your first language?"),
        (translatable("yes"), translatable("one of several"), translatable("no")),
    ),
}  # fmt: skip
CONSENT = translatable(
    "You will see pairs of words and say which pair is more closely connected. Taking part is voluntary, and you can "
    "stop at any time. Your answers are stored under the name or id that you came with, and are used for research."
)
# Stands below every consent where a page keeps addresses, also below an owner's own: it is so whatever that says.
ADDRESS_KEPT = translatable(
    "A scrambled form of your internet address is kept until this round of voting is over, so that double votes are "
    "noticed; then it is deleted."
)
CLOSING = translatable("Thank you, your votes are saved.")
FEWEST_TOLD = 5  # a smaller number of voters could point at one of them
MAX_TEXT, MAX_LINE = 5000, 500
_LIMITS = {
    "task_size": (1, 50, "Comparisons per task"),
    "tasks_per_voter": (1, 1000, "Tasks per voter"),
    "votes_per_comparison": (1, 20, "Votes per comparison"),
    "minutes_per_task": (1, 1440, "Minutes per task"),
    "n_gold": (0, 10, "Checks per task"),
    "gold_allowed": (0, 100, "Checks that may fail"),
    "n_repeats": (0, 10, "Repeats per task"),
}
_CHOICES = {
    "gold_action": ("nothing", "stop", "set aside"),
    "identify": ("name", "none", "id", "invited"),
    "completion": ("none", "shared", "own"),
}


@dataclass(frozen=True)
class VotingSettings:
    """Everything that the owner chooses for the voting page of a ballot.

    A comparison gets `votes_per_comparison` votes. A task of `task_size` comparisons, `n_gold` checks and `n_repeats`
    repeats is kept for a voter for `minutes_per_task`; a voter answers up to `tasks_per_voter` tasks. More than
    `gold_allowed` wrong checks lead to `gold_action`: nothing, stop (no more tasks, no completion code), or set aside
    (the votes are kept, not counted). `identify` says who may come by the plain link: anybody, known by a typed name
    (name) or by the browser alone (none); only who brings a platform's id, which can be made up (id); or nobody without
    a personal link (invited). Whoever comes without a personal link must know the `code_word`, if there is one.
    `completion` is the code at the end: none, shared (`code`) or the voter's own.
    `adaptive` closes a ballot that has its votes and opens the next. `examples` shows the plan's examples, one by
    one with the answer, before the first comparison that counts. `ask` names what voters are asked of themselves.
    """

    task_size: int = 10
    tasks_per_voter: int = 5
    votes_per_comparison: int = 1
    ties_allowed: bool = True
    minutes_per_task: int = 30
    n_gold: int = 0
    gold_allowed: int = 0
    gold_action: str = "nothing"
    n_repeats: int = 0
    adaptive: bool = False
    identify: str = "name"
    code_word: str = ""
    hash_ids: bool = False
    examples: bool = True
    ask: tuple[str, ...] = ()
    consent: str = CONSENT
    closing: str = CLOSING
    completion: str = "none"
    code: str = ""
    return_url: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> VotingSettings:
        """Settings as JSON keeps them; what an older version didn't know has its default."""
        values = known_values(cls, stored)
        if not is_safe_url(str(values.get("return_url", ""))):  # of a project that comes from elsewhere
            values["return_url"] = ""
        return cls(**values | {"ask": tuple(values.get("ask", ()))})

    def stored(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"ask": list(self.ask)}

    def told(self) -> dict[str, Any]:
        """For the log: what is stored, less the code word."""
        return {name: value for name, value in self.stored().items() if name != "code_word"}

    @property
    def asks_word(self) -> bool:
        """Whether there is a code word."""
        return bool(_plain(self.code_word))

    def is_word(self, typed: str) -> bool:
        """Whether somebody typed the code word, whatever its capitals and spaces; in the same time if it is wrong.

        >>> VotingSettings(code_word="Blue Whale").is_word(" bluewhale"), VotingSettings(code_word="Blue").is_word("")
        (True, False)
        """
        words = (typed, self.code_word)
        one, other = (hashlib.sha256(_plain(word).encode("utf-8", "replace")).digest() for word in words)
        return hmac.compare_digest(one, other)


def _plain(word: str) -> str:
    return "".join(normalize("NFKC", word).casefold().split())


def check_voting(settings: VotingSettings) -> VotingSettings:
    """The settings unchanged; `InputError` with everything that makes no sense in them."""
    issues = []
    for name, (lowest, highest, label) in _LIMITS.items():
        value = getattr(settings, name)
        if not (isinstance(value, int) and lowest <= value <= highest):
            issues.append(Issue(f"must lie between {lowest} and {highest}", column=label, found=str(value)))
    for name, choices in _CHOICES.items():
        if getattr(settings, name) not in choices:
            issues.append(
                Issue(f"must be one of {', '.join(choices)}", column=name, found=str(getattr(settings, name)))
            )
    issues += [Issue("nobody can be asked about that", column="ask", found=t) for t in settings.ask if t not in TRAITS]
    for name in ("consent", "closing"):
        if len(getattr(settings, name)) > MAX_TEXT:
            issues.append(Issue(f"is longer than {MAX_TEXT} characters", column=name))
    if settings.ask and not settings.consent.strip():
        issues.append(Issue("must say what the questions about voters are for", column="consent"))
    if settings.completion == "shared" and not settings.code.strip():
        issues.append(Issue("is empty: type the code that the platform gave you", column="code"))
    for name, text in (("code", settings.code), ("code word", settings.code_word)):
        if len(text) > 100 or not text.isprintable():
            issues.append(Issue("must be at most 100 characters in one line", column=name))
    if settings.return_url and not is_safe_url(settings.return_url):
        issues.append(Issue("must be a whole address that begins with https://", column="return address"))
    if issues:
        raise InputError("Voting can't be set up like this.", issues)
    return settings


def is_safe_url(url: str) -> bool:
    """Whether an address may stand behind the last button: https, a host, no user name, no white space.

    >>> is_safe_url("https://app.prolific.com/submissions/complete?cc=C1"), is_safe_url("javascript:alert(1)")
    (True, False)
    """
    if len(url) > MAX_LINE or any(c.isspace() or not c.isprintable() or c in "\\<>\"'" for c in url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and bool(parts.hostname) and parts.username is None and parts.password is None
    except ValueError:
        return False
