"""Target groups proposed by an embedding and an area's tokens, for people to edit.

Of a target, *positives* are the nearest other tokens of its area, *distractors* the nearest words of the embedding
outside the area, *randoms* tokens of other areas, or, where there are too few, frequent words of the embedding. An
embedding that proposes its own test is favoured by it (as with proposed tokens, §2.2): edit the groups, and don't
rank that embedding by them unedited.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...embeddings import Embedding
from ...errors import InputError
from .groups import GroupComparison, TargetGroup, by_definition

FREQUENT = 10_000  # words from the beginning of a vocabulary, which is sorted by frequency as a rule


def draw_groups(
    embedding: Embedding,
    tokens: Sequence[str],
    *,
    targets: Sequence[str] | None = None,
    others: Sequence[str] = (),
    sizes: tuple[int, int, int] = (6, 3, 3),
    rng: np.random.Generator,
) -> tuple[list[TargetGroup], list[str]]:
    """Groups of the targets (all tokens of the area by default) with up to so many positives, distractors, randoms.

    tokens : of the area; others : of other areas, for randoms. Returns the groups and the targets without one: those
    that the embedding lacks, or whose area has no other token that it knows. Words with a comma are passed over, as
    the files can't hold them. Raises `InputError` for fewer than one positive, or a table of similarities.
    """
    n_positives, n_distractors, n_randoms = sizes
    if n_positives < 1 or min(sizes) < 0:
        raise InputError("A group needs at least one positive; distractors and randoms can be none.")
    if embedding.kind != "vectors":
        raise InputError(f"{embedding.name} gives similarities of pairs; it has no words to propose.")
    area = [token for token in dict.fromkeys(tokens) if _fits(token)]
    strange = sorted(set(targets or ()) - set(area))
    if strange:
        raise InputError(f"{', '.join(strange)}: no token of the area, or one with a comma.")
    reserve = [token for token in dict.fromkeys(others) if _fits(token)]
    frequent = [word for word in embedding.vocabulary.slice(0, FREQUENT).to_pylist() if word.isalpha()]
    found, without = [], []
    for target in targets or area:
        positives = _nearest(embedding, target, area, n_positives)
        if not positives:
            without.append(target)
            continue
        taken = {_key(word) for word in (*area, target)}
        distractors = _outside(embedding, target, taken, n_distractors)
        taken |= {_key(word) for word in distractors}
        randoms: list[str] = []
        for source in (reserve, frequent):
            free = list({_key(word): word for word in source if _key(word) not in taken}.values())
            want = min(n_randoms - len(randoms), len(free))
            drawn = [free[at] for at in rng.permutation(len(free))[:want].tolist()]
            randoms += drawn
            taken |= {_key(word) for word in drawn}
        found.append(TargetGroup(target, tuple(positives), tuple(distractors), tuple(randoms)))
    return found, without


def _fits(word: str) -> bool:
    return "," not in word and bool(word.strip())


def _key(word: str) -> str:
    return word.replace("_", " ").casefold()


def _nearest(embedding: Embedding, target: str, area: Sequence[str], n: int) -> list[str]:
    """The nearest tokens of the area, ties in the area's order."""
    rest = [token for token in area if _key(token) != _key(target)]
    cosines = embedding.cosines([target] * len(rest), rest) if rest else np.array([])
    order = np.argsort(-cosines, kind="stable")
    return [rest[at] for at in order.tolist() if not np.isnan(cosines[at])][:n]


def _outside(embedding: Embedding, target: str, taken: set[str], n: int) -> list[str]:
    """The nearest words outside the area."""
    if not n:
        return []
    near = embedding.nearest(embedding.vectors([target])[0], len(taken) + 4 * n, leave_out=[target])
    words = {_key(word): word for word, _ in reversed(near) if _fits(word) and _key(word) not in taken}
    return list(reversed(list(words.values())))[:n]


def undecided(groups: Sequence[TargetGroup]) -> list[GroupComparison]:
    """The comparisons of groups that nobody judged yet: those that hold by definition.

    As a file they read back as the same groups where each has a distractor or a random; people's comparisons of
    positives (`pairs_to_judge`) are added to it.
    """
    return [comparison for group in groups for comparison in by_definition(group)]
