"""Names from right to left in sentences from left to right."""

import unicodedata

import pytest

from lcgnn.assessment.direction import isolated
from lcgnn.assessment.explanation import ClassShare, Explanation, LabelInfluence
from lcgnn.runs.explaining.words import in_words

HEBREW, MIRRORED, LEAVING, OPEN = "\u05e9\u05dc\u05d5\u05dd", "a\u202eb", "\u05d0\u2069 b", "\u2067\u05d0"


@pytest.mark.parametrize("name", ["a", "topic A", "日本語", "naïve", "<b>", "", "Ωmega 5"])
def test_a_name_that_turns_no_direction_is_as_it_was(name: str) -> None:
    assert isolated(name) == name


@pytest.mark.parametrize("name", [HEBREW, MIRRORED, LEAVING, OPEN, "\u0661\u0662", "\u2069"])
def test_another_name_ends_where_the_sentence_goes_on(name: str) -> None:
    found = isolated(name)
    depths, depth = [], 0
    for letter in found:
        kind = unicodedata.bidirectional(letter)
        depth += (kind in ("LRI", "RLI", "FSI")) - (kind == "PDI")
        depths.append(depth)
    assert found[0] == "\u2068"
    assert min(depths[:-1], default=1) >= 1
    assert depths[-1] == 0


def test_every_name_in_the_sentences_of_an_explanation_is_kept_apart_and_in_its_data_as_it_is() -> None:
    found = in_words(
        Explanation(
            node=0,
            id=MIRRORED,
            label=HEBREW,
            probability=0.9,
            given=None,
            method="lc-gcn",
            classes=(ClassShare(HEBREW, 0.9), ClassShare("plain", 0.1)),
            soft_classes=(ClassShare(HEBREW, 1.0),),
            labelled=(LabelInfluence(1, MIRRORED, 1.0, HEBREW),),
        )
    )
    said = " ".join(found.words)
    assert said.startswith(f"\u2068{MIRRORED}\u2069: \u2068{HEBREW}\u2069 by 90 %, then plain by 10 %")
    for name in (MIRRORED, HEBREW):
        assert said.count(name) == said.count(f"\u2068{name}\u2069") > 0
    assert (found.id, found.label, found.labelled[0].id) == (MIRRORED, HEBREW, MIRRORED)
