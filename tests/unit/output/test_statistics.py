"""Medians, quartiles and paired ratios, held against plain formulas."""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
import pytest

from pmgt_mpi.output.statistics import LEAST_DRAWS, ratio, spread


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 20])
def test_quartiles_are_those_of_numpy(count):
    values = np.random.default_rng(count).exponential(size=count).tolist()
    assert spread(values) == pytest.approx(np.quantile(values, [0.25, 0.5, 0.75]))


def test_what_was_never_reached_takes_its_place_among_the_others():
    assert spread([3.0, inf, 1.0, 2.0, 4.0]) == (2.0, 3.0, 4.0)
    assert spread([1.0, inf, 2.0, inf]) == (1.75, inf, inf)
    assert spread([inf]) == (inf, inf, inf)


def draws(ratios, streams=1):
    return [[(r * cost, cost) for cost in (2.0, 5.0)[:streams]] for r in ratios]


def test_the_mean_is_geometric_and_streams_of_a_draw_count_once():
    ratios = [2.0, 8.0, 4.0, 2.0, 2.0, 4.0]
    mean = exp(sum(map(log, ratios)) / 6)
    assert ratio(draws(ratios)).mean == pytest.approx(mean)
    assert ratio(draws(ratios, streams=2)) == ratio(draws(ratios))
    assert ratio([[(2.0, 1.0), (8.0, 1.0)]]).mean == pytest.approx(4.0)


def test_the_interval_is_that_of_a_plain_bootstrap_and_the_same_every_time():
    ratios = np.random.default_rng(1).lognormal(0.5, 0.3, size=9)
    found = ratio(draws(ratios))
    rng = np.random.default_rng(7)
    means = [log_mean(rng.choice(ratios, 9)) for _ in range(20_000)]
    wanted = np.exp(np.quantile(means, [0.025, 0.975]))
    assert found.interval == pytest.approx(wanted, rel=0.02)
    assert found == ratio(draws(ratios))
    assert found.verdict == "more"


def log_mean(ratios):
    return float(np.log(ratios).mean())


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [([1.5] * 6, "more"), ([0.5] * 7, "less"), ([0.5, 2.0] * 3, "open")],
)
def test_a_verdict_is_what_the_whole_interval_says(ratios, verdict):
    assert ratio(draws(ratios)).verdict == verdict


def test_there_is_no_verdict_from_few_draws_or_where_one_has_no_cost():
    few = ratio(draws([2.0] * (LEAST_DRAWS - 1)))
    assert (few.interval, few.verdict) == (None, "")
    missing = ratio([*draws([2.0] * 8), [(1.0, inf)]])
    assert (missing.draws, missing.missing) == (8, 1)
    assert (missing.mean, missing.interval) == (pytest.approx(2.0), None)
    assert ratio([[(inf, 1.0)]]).mean is None
