"""The benchmark of an epoch measures what it says it measures."""

import pytest

from benchmarks import epoch


@pytest.mark.parametrize(("threads", "quick", "measured"), [(1, False, True), (1, True, False), (2, False, False)])
def test_the_slow_pairwise_form_on_pubmed_is_measured_on_one_thread_unless_asked_to_be_quick(
    threads, quick, measured, monkeypatch
):
    monkeypatch.setattr(epoch, "contender", lambda *_: lambda: None)
    monkeypatch.setattr(
        epoch, "interleaved", lambda steps, repeats, **_: {name: [1.0] * repeats for name in steps}
    )
    row = epoch._measure_one("pubmed", "gcn", 2, threads, quick)
    assert ("dense LC" in row["milliseconds"]) is measured
    assert ("dense LC / lcgnn LC" in row["ratios"]) is measured
