"""How an explanation's sentences count."""

import pytest

from lcgnn.assessment.explanation import ClassShare, Explanation, FeatureEffect
from lcgnn.runs.explaining.words import in_words


@pytest.mark.parametrize(("effect", "words"), [(0.0113, "1 point"), (0.0149, "1 point"), (0.023, "2 points")])
def test_a_feature_has_one_point_or_several(effect: float, words: str) -> None:
    found = Explanation(
        node=0,
        id="a",
        label="red",
        probability=0.9,
        given=None,
        method="lc-gcn",
        classes=(ClassShare("red", 0.9),),
        features=(FeatureEffect("title", effect, 1.0),),
    )
    assert f"Features that speak for it: title ({words})." in in_words(found).words
