"""What Collect and Voters say in Italian; what is logged and what goes to others stays English."""

from __future__ import annotations

import pandas as pd
import pytest

from core.effects import Effect, Move
from core.platforms.mapping import MEANINGS, ROLES
from core.policy import REJECTED, REPEATS
from core.spoken import say, speaking
from core.views.command_list import COMMANDS
from core.views.effects import top_sentence, voters_said, votes_said
from core.views.upload_words import CLASSES
from core.views.ways import WAYS
from core.voter_rules import RULES, propose


def test_moves_are_told_with_whole_words_and_italian_numbers():
    effect = Effect(-1200, 1, 2, moves=(Move(("dog", "cat"), 5.5, 2.0), Move(("cow", "pig"), None, 9.5)))
    assert top_sentence(effect) == "Top 10: 1 moved: dog – cat 5.5 → 2; entered: cow – pig (now 9.5)."
    with speaking("it"):
        assert top_sentence(effect) == "Primi 10 posti: 1 spostata: dog – cat 5,5 → 2; entrate: cow – pig (ora 9,5)."
        assert voters_said(effect) == "3 votanti (di cui nuovi: 1)"
        assert votes_said(effect) == "1.200 voti in meno"


@pytest.mark.parametrize(("n", "verb"), [(1, "is"), (2, "are")])
def test_a_decision_is_one_sentence_for_one_and_for_several(n, verb):
    moved = {"voters": n, "answers": 10, "rescored": 2}
    voters = f"{n} voter{'s' if n > 1 else ''}"
    said = COMMANDS["exclude_voters"].said(moved, {})
    assert said == f"{voters} {verb} left out: 10 answers. 2 closed ballots scored anew."
    with speaking("it"):
        it = "1 votante riammesso" if n == 1 else "2 votanti riammessi"
        assert COMMANDS["readmit_voters"].said(moved, {}) == f"{it}: 10 risposte. Punteggi ricalcolati: 2 turni chiusi."


def test_labels_of_constants_are_in_the_catalogue():
    labels = [text for about in WAYS.values() for text in about if text not in ("Turkle", "Label Studio", "Prolific")]
    labels += [text for about in CLASSES.values() for text in about]
    labels += [*MEANINGS.values(), *ROLES.values(), *REJECTED.values(), *REPEATS.values()]
    labels += [text for rule in RULES.values() for text in (rule.label, rule.asks, rule.about)]
    with speaking("it"):
        same = [text for text in labels if say(text) == text]
    assert same == []


def test_a_reason_is_said_to_who_looks_and_english_where_it_is_logged():
    table = pd.DataFrame(
        {"voter_id": [1], "left_out": [False], "gold": [0.25], "gold_right": [1], "gold_n": [4]},
    )
    with speaking("it"):
        assert propose(table, {"gold": 0.7})["reason"].tolist() == ["1 di 4 risposte note giuste"]
        with speaking("en"):
            assert propose(table, {"gold": 0.7})["reason"].tolist() == ["1 of 4 known answers right"]
