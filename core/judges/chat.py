"""How a language model behind a server is asked: `POST {address}/v1/chat/completions`, and what comes back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..base.web import Server, TryAgainError, UnreadableError, checked_key, clean_address, is_open, persistently
from ..errors import InputError, PlatformError

KEY = "RUNOFF_JUDGE_KEY"  # the variable of the environment that holds the key, which stands nowhere else
PATH = "/v1/chat/completions"
TIMEOUT = 120.0
MOST_BYTES = 4 << 20
MAX_AT_ONCE = 32
MAX_NAME = 200
CUT, REFUSED = "sent an answer that is cut", "refuses this (4"  # in the messages of `base.web`
_FILTERED = re.compile(r"content[_ ]?(filter|policy|management)|responsible ?ai|safety", re.IGNORECASE)


@dataclass(frozen=True)
class JudgeSettings:
    """A language model and how it is asked.

    address : of the server, without /v1; model : its name there; temperature : None leaves the server's own;
    most_tokens : of an answer, None for no bound of ours; input_price, output_price : of a million tokens, in the money
    of the plan, None where unknown; at_once : so many comparisons are on the way at a time.
    """

    address: str
    model: str
    temperature: float | None = 0.0
    most_tokens: int | None = 16
    input_price: float | None = None
    output_price: float | None = None
    at_once: int = 4

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> JudgeSettings:
        """The settings as JSON keeps them; what this version doesn't know is left alone. Errors of `checked`."""
        names = {field.name for field in fields(cls)}
        try:
            return checked(cls(**{name: value for name, value in stored.items() if name in names}))
        except TypeError as error:
            raise InputError(f"The settings of the language model can't be read ({error}). Set it up again.") from error

    def stored(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def checked(settings: JudgeSettings) -> JudgeSettings:
    """The settings with a clean address; `InputError` for what can't be."""
    address = clean_address(settings.address, of="the server", example="http://localhost:8000")
    address = address.removesuffix(PATH).removesuffix("/v1")
    model = settings.model.strip()
    if not model or len(model) > MAX_NAME or not model.isprintable():
        raise InputError(f"The model is named by 1 to {MAX_NAME} letters on one line, as the server calls it.")
    limits = {
        "temperature": (0.0, 2.0, "The temperature"),
        "most_tokens": (1, 100_000, "The most tokens of an answer"),
        "input_price": (0.0, 1e6, "The price of a million tokens sent"),
        "output_price": (0.0, 1e6, "The price of a million tokens answered"),
        "at_once": (1, MAX_AT_ONCE, "The comparisons on the way at a time"),
    }
    for name, (least, most, what) in limits.items():
        value = getattr(settings, name)
        if value is None and name != "at_once":
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise InputError(f"{what} must be a number from {least:g} to {most:g}, found {value!r}.")
    return JudgeSettings(**{**asdict(settings), "address": address, "model": model})


def server_of(settings: JudgeSettings, key: str) -> Server:
    """The server, with the key of the environment unless others could read it on the way; `InputError` for a key that
    can't be one."""
    known = "" if is_open(settings.address) else checked_key(key, variable=KEY)
    return Server(settings.address, known, timeout=TIMEOUT, most_bytes=MOST_BYTES)


@dataclass(frozen=True)
class Reply:
    """What came for one comparison.

    content : the model's words, or the beginning of whatever came in their place. revision : what the server calls the
    model; fingerprint : of its set-up. Tokens are None where it doesn't count them. is_answer : False where something
    else came than an answer of a model.
    """

    content: str
    is_cut: bool = False
    is_refusal: bool = False
    revision: str = ""
    fingerprint: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    is_answer: bool = True


def request_of(settings: JudgeSettings, prompt: str, text: str) -> dict[str, Any]:
    """The body of a request: the prompt, then one comparison."""
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": text}]
    body: dict[str, Any] = {"model": settings.model, "messages": messages}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.most_tokens is not None:
        body["max_tokens"] = settings.most_tokens
    return body


def ask(
    server: Server,
    body: Mapping[str, Any],
    *,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> Reply:
    """The reply to one request, asked again where another try may help.

    A refusal of the server's filter is a reply. Raises `UnreadableError` where something else than an answer came, or
    one that is cut at each try, and `PlatformError` where the server can't be asked.
    """
    failed: list[TryAgainError] = []

    def once() -> dict[str, Any]:
        try:
            return server.post(PATH, body)
        except TryAgainError as error:
            failed.append(error)
            raise

    try:
        return _without(server.key, reply_of(persistently(once, say=say, sleep=sleep)))
    except UnreadableError as error:
        raise UnreadableError(str(error), error.content.replace(server.key.encode() or b"\0", b"...")) from None
    except PlatformError as error:
        if failed and CUT in str(failed[-1]) and str(error).startswith(str(failed[-1])):
            raise UnreadableError(str(error), str(failed[-1]).encode()) from None
        if REFUSED in str(error) and _FILTERED.search(str(error)):
            return Reply(storable(str(error)), is_refusal=True)
        raise


def _without(key: str, reply: Reply) -> Reply:
    """A reply without the key, should the server repeat it: it is kept nowhere."""
    if not key:
        return reply
    fields = {name: getattr(reply, name) for name in ("content", "revision", "fingerprint")}
    return replace(reply, **{name: text and text.replace(key, "…") for name, text in fields.items()})


def reply_of(answer: Mapping[str, Any]) -> Reply:
    """What a server's JSON says; `UnreadableError` where it has no choice of a model.

    >>> reply_of({"model": "m-1", "choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}).content
    'A'
    """
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        shown = json.dumps(answer, ensure_ascii=False, default=str)
        raise UnreadableError(f"The server's answer holds no choice of a model: {shown[:80]!r}.", shown.encode())
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    refusal = message.get("refusal")
    content = _text(message.get("content"))
    finish = first.get("finish_reason")
    fingerprint = answer.get("system_fingerprint")
    return Reply(
        content or (storable(refusal) if isinstance(refusal, str) else ""),
        is_cut=finish == "length",
        is_refusal=bool(refusal) or finish == "content_filter",
        revision=_word(answer.get("model")),
        fingerprint=_word(fingerprint) or None,
        prompt_tokens=_count(counts.get("prompt_tokens")),
        answer_tokens=_count(counts.get("completion_tokens")),
    )


def _text(content: Any) -> str:
    """The text of a message; that of its parts where it comes in parts."""
    if isinstance(content, str):
        return storable(content)
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return storable("".join(texts))


def storable(text: str) -> str:
    """A text as any database can keep it: half a character, or a NUL, has a mark in its place."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def _word(value: Any) -> str:
    return "".join(c for c in storable(value) if c.isprintable())[:MAX_NAME] if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None
