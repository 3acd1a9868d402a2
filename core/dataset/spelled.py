"""Tokens as embeddings spell them: rolling_pin for rolling pin; for programs that look words up as they stand.

Where embeddings spell a token in two ways there are several spellings of the dataset, and a file for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Speller:
    """How an embedding spells tokens: `words[i]` is the word of its vocabulary that token i is found as, None where
    there is none (or a mean stands for it); `holds` are those words of any embedding that its vocabulary has."""

    words: Sequence[str | None]
    holds: Set[str]

    def takes(self, way: Mapping[str, str], tokens: Sequence[str]) -> bool:
        """Whether a program that looks up the words of this way finds in the vocabulary what was found here, no more
        and no less."""
        pairs = zip(tokens, self.words, strict=True)
        return all(way.get(token, word) == word if word is not None else way.get(token) not in self.holds
                   for token, word in pairs)  # fmt: skip


def ways(tokens: Sequence[str], spellers: Iterable[Speller]) -> tuple[dict[str, str], ...]:
    """The spellings that come from joining the embeddings one by one, each as what it spells otherwise.

    One that agrees with an earlier spelling joins it. Without any difference there is one, empty.

    >>> pins = [Speller(["rolling_pin", None], {"rolling_pin"}), Speller([None, "sea"], {"sea"}),
    ...         Speller(["rolling-pin", "sea"], {"rolling-pin", "sea"})]
    >>> ways(["rolling pin", "sea"], pins)
    ({'rolling pin': 'rolling_pin'}, {'rolling pin': 'rolling-pin'})
    """
    joined: list[tuple[dict[str, str], list[Speller]]] = []
    for speller in spellers:
        new = {token: word for token, word in zip(tokens, speller.words, strict=True) if word is not None}
        for known, members in joined:
            both = known | new
            if all(one.takes(both, tokens) for one in (*members, speller)):
                known.update(new)
                members.append(speller)
                break
        else:
            joined.append((new, [speller]))
    found = [{token: word for token, word in way.items() if word != token} for way, _ in joined]
    return tuple(found) or ({},)


def spelled(dataset: pd.DataFrame, way: Mapping[str, str]) -> pd.DataFrame:
    """The dataset with its tokens in a spelling."""
    if not way:
        return dataset
    columns = {name: dataset[name].map(lambda token: way.get(token, token)) for name in ("token_a", "token_b")}
    return dataset.assign(**{name: column.astype(dataset[name].dtype) for name, column in columns.items()})


def example(way: Mapping[str, str]) -> str:
    """A token as it is spelled, to know the way by; "" where all are as in the dataset."""
    return next(iter(way.values()), "")


def endings(spellings: Sequence[Mapping[str, str]]) -> list[str]:
    """What the file of each spelling has in its name: nothing, -2, -3, …

    >>> endings([{}, {}])
    ['', '-2']
    """
    return ["" if n == 1 else f"-{n}" for n in range(1, len(spellings) + 1)]
