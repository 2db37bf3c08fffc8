"""Design spaces: the measures give the reference values and have the properties of their definitions."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from statsmodels.stats.multitest import multipletests

from analysis.measures.spaces import comparison, definitions, edf, exact, samples, search
from tests.shared import shared_case

ERRORS = [5.2, 6.1, 6.1, 7.0, 8.0, 8.4, 9.5, 12.0]
COMPLEXITY = [0.1, 0.15, 0.3, 0.35, 0.38, 0.55, 0.7, 0.95]
SPACES = {space.name: space for space in definitions.SPACES}
SMALL = [0.4, 0.3, 0.1, 0.1, 0.1]  # probabilities of five complexities
FEW = settings(max_examples=25, deadline=None)
positive = some.lists(some.floats(0.01, 100), min_size=1, max_size=40)


@pytest.fixture(scope="module")
def vectors():
    return json.loads((shared_case("analysis") / "vectors.json").read_text())


def weights(**more) -> edf.ComplexityWeights:
    return edf.complexity_weights(COMPLEXITY, 4, (0.0, 1.0), **more)


def test_the_edf_counts_errors_strictly_below(vectors):
    case = vectors["edf"]
    assert edf.edf(case["errors"], case["thresholds"]) == pytest.approx(case["expected"])


def test_no_errors_have_no_distribution():
    with pytest.raises(ValueError, match="no errors"):
        edf.edf([], [1.0])


def test_the_normalised_edf(vectors):
    case = vectors["norm_edf"]
    found = edf.complexity_weights(case["complexity"], case["k"], tuple(case["range"]))
    assert found.counts.tolist() == case["bin_counts"]
    assert found.bins.tolist() == case["bin_index"]
    assert found.weights == pytest.approx(case["weights"])
    assert edf.edf(case["errors"], case["thresholds"], found.weights) == pytest.approx(case["expected_F"])
    assert edf.edf(case["errors"], case["thresholds"]) == pytest.approx(case["unweighted_F"])
    edges = case["complexity_edf_at_bin_edges"]
    assert edf.edf(case["complexity"], edges["edges"], found.weights) == pytest.approx(edges["expected"])


def test_an_empty_bin_is_an_error_or_dropped(vectors):
    case = vectors["norm_edf"]["edge_rules"]["empty_bin_case"]
    asked = case["complexity"], case["k"], tuple(case["range"])
    with pytest.raises(edf.EmptyBinError, match="1 of 4 bins"):
        edf.complexity_weights(*asked)
    relaxed = edf.complexity_weights(*asked, strict=False)
    assert relaxed.weights == pytest.approx(case["drop_weights"])
    assert relaxed.dropped == (1,)


def test_strict_ranges_are_open_and_others_hold_both_ends():
    ends = [0.0, 0.2, 0.6, 1.0]
    assert edf.complexity_weights(ends, 2, (0, 1)).bins.tolist() == [-1, 0, 1, -1]
    assert edf.complexity_weights(ends, 2, (0, 1), strict=False).bins.tolist() == [0, 0, 1, 1]


def test_a_bin_that_one_population_lacks_is_dropped_in_all():
    first, second = edf.shared_weights([[0.1, 0.6, 0.9], [0.2, 0.3, 0.95]], 4, (0, 1))
    assert first.dropped == second.dropped == (1, 2)
    assert first.weights.tolist() == [0.5, 0.0, 0.5]
    with pytest.raises(edf.EmptyBinError, match="every population"):
        edf.shared_weights([[0.1], [0.9]], 2, (0, 1))


def test_the_area_under_the_edf(vectors):
    case = vectors["edf_area"]
    for limit, expected in case["weights_uniform"].items():
        assert edf.edf_area(case["errors"], float(limit)) == pytest.approx(expected)
    for limit, expected in case["weights_norm_edf"].items():
        assert edf.edf_area(case["errors"], float(limit), weights().weights) == pytest.approx(expected)


@given(positive, some.floats(0.1, 200))
@FEW
def test_the_area_is_that_under_the_curve(errors, limit):
    area = edf.edf_area(errors, limit)
    assert -1e-12 <= area <= 1
    steps = np.unique(np.concatenate([[0.0, limit], [one for one in errors if one < limit]]))
    # Between two errors the distribution is constant: its value is that just above the lower one.
    heights = edf.edf(errors, (steps[:-1] + steps[1:]) / 2)
    assert area == pytest.approx(float(np.sum(heights * np.diff(steps))) / limit, abs=1e-9)


@given(positive, some.integers(1, 6))
@FEW
def test_weights_sum_to_one_and_the_edf_never_falls(values, bins):
    found = edf.complexity_weights(values, bins, (0.0, 100.0), strict=False)
    assert found.weights.sum() == pytest.approx(1)
    curve = edf.edf(values, sorted(values), found.weights)
    assert np.all(np.diff(curve) >= 0) and curve.min() >= 0 and curve.max() <= 1


def test_the_ks_test_of_the_paper(vectors):
    case = vectors["ks"]["published"]
    b = [10 * i - 79 if i >= 40 else min(10 * i - 5, 321) for i in range(1, 101)]
    found = comparison.ks_test(b, range(1, 1001))
    assert found.statistic == pytest.approx(case["D"])
    assert found.p == pytest.approx(case["exact_p"])
    assert round(found.p, 2) == case["p"]


def test_the_ks_test_of_small_samples_is_exact(vectors):
    tie, apart, same = (vectors["ks"][name] for name in ("small_with_tie", "disjoint", "identical"))
    found = comparison.ks_test(tie["a"], tie["b"])
    assert (found.statistic, found.p) == pytest.approx((tie["D"], tie["p_exact"]))
    found = comparison.ks_test(apart["a"], apart["b"])
    assert (found.statistic, found.p) == pytest.approx((apart["D"], apart["p_exact"]))
    found = comparison.ks_test(same["a"], same["b"])
    assert (found.statistic, found.p) == (0.0, 1.0)


@given(positive, positive)
@FEW
def test_distances_are_symmetric(first, second):
    assert comparison.ks_test(first, second).statistic == comparison.ks_test(second, first).statistic
    plain = [edf.uniform_weights(len(one)) for one in (first, second)]
    there = comparison.weighted_distance(first, plain[0], second, plain[1])[0]
    assert there == pytest.approx(comparison.weighted_distance(second, plain[1], first, plain[0])[0])
    assert there == pytest.approx(comparison.ks_test(first, second).statistic)


def test_the_distance_of_normalised_distributions(vectors):
    case = vectors["ks_weighted"]
    found, _ = comparison.weighted_distance(case["errors1"], case["w1"], case["errors2"], case["w2"])
    assert found == pytest.approx(case["D"])
    second = edf.complexity_weights(case["complexity2"], 4, (0, 1))
    assert second.weights == pytest.approx(case["w2"])
    tested = comparison.weighted_ks_test((case["errors1"], case["errors2"]), (weights(), second))
    assert tested.statistic == pytest.approx(case["D"])
    assert tested.p > 0.5


def test_permutations_tell_a_difference_from_what_complexity_explains():
    random = np.random.default_rng(0)
    large, small = (random.choice([0.1, 0.3, 0.5, 0.7, 0.9], 300, p=one) for one in (SMALL[::-1], SMALL))
    both = edf.shared_weights([large, small], 5, (0, 1))
    noise = random.normal(0, 0.02, (2, 300))
    # Both have the same errors at the same complexity, though those of the larger models are lower.
    alike = (1 - large + noise[0], 1 - small + noise[1])
    assert comparison.ks_test(*alike).p < 1e-6
    assert comparison.weighted_ks_test(alike, tuple(both), permutations=199).p > 0.02
    worse = (alike[0], alike[1] + 0.1)
    assert comparison.weighted_ks_test(worse, tuple(both), permutations=199).p == pytest.approx(1 / 200)


def test_the_correction_is_that_of_statsmodels():
    values = np.random.default_rng(0).uniform(0, 0.2, 12).round(2)
    assert comparison.holm(values) == pytest.approx(multipletests(values, method="holm")[1])


def test_many_comparisons_are_corrected_after_holm():
    assert comparison.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert comparison.holm([]).size == 0


def test_random_search_in_closed_form(vectors):
    case = vectors["random_search_efficiency"]
    found = search.random_search(case["errors"], case["weights"], case["m"])
    for size, mean, std in zip(found.sizes, found.mean, found.std, strict=True):
        assert (mean, std) == pytest.approx(case["exact_mean_std_of_min"][str(size)])


def test_random_search_as_the_notebooks_draw_it(vectors):
    case = vectors["random_search_efficiency"]
    found = search.simulated_search(case["errors"], case["weights"], case["m"], seed=1)
    for size, mean, std in zip(found.sizes, found.mean, found.std, strict=True):
        assert (mean, std) == pytest.approx(case["python_random_seed1"]["mean_std"][str(size)])


def test_a_larger_sample_has_the_lower_minimum_in_nine_of_ten_cases(vectors):
    expected = vectors["random_search_efficiency"]["published_point_estimate"]["value"]
    assert search.lower_minimum_probability(1000, 100) == pytest.approx(expected)


@given(positive)
@FEW
def test_more_search_never_finds_worse(errors):
    found = search.random_search(errors)
    assert np.all(np.diff(found.mean) <= 1e-9)
    assert found.mean[0] == pytest.approx(np.mean(errors))
    assert found.std[0] == pytest.approx(np.std(errors), abs=1e-6)


def test_good_ranges_are_those_of_endlessly_many_bootstrap_samples():
    random = np.random.default_rng(1)
    rate = random.uniform(-5, 0, 200)
    errors = np.round((rate + 2) ** 2 + random.normal(0, 0.1, 200), 2)
    found = search.good_ranges(errors, {"rate": rate, "unknown": np.full(200, np.nan)})
    assert [one.name for one in found] == ["rate"]
    drawn = random.integers(200, size=(20_000, 50))
    best = rate[drawn[np.arange(20_000), errors[drawn].argmin(axis=1)]]
    expected = np.percentile(best, [2.5, 50, 97.5])
    assert (found[0].low, found[0].median, found[0].high) == pytest.approx(expected, abs=0.15)


def test_the_expected_distance_of_a_sample(vectors):
    case = vectors["sample_size_study"]
    for size, expected in case["values_large_N"].items():
        assert samples.expected_distance(int(size)) == pytest.approx(expected, rel=1e-4)
    tiny = case["tiny_exact"]
    assert samples.sample_distance(tiny["population"], tiny["subsample"]) == pytest.approx(tiny["D"])


def test_measured_distances_are_as_published(vectors):
    case = vectors["sample_size_study"]["measured_uniform_50_trials"]
    errors = np.random.default_rng(0).uniform(size=16_384)
    found = samples.sample_size_study(errors, [10, 100, 1000])
    assert found.measured == pytest.approx([case[str(size)] for size in found.sizes], rel=0.15)
    assert found.measured[1:] == pytest.approx(found.expected[1:], rel=0.15)
    everything = samples.sample_size_study([1.0, 2.0, 3.0, 4.0])
    assert everything.sizes == (1, 2, 4) and everything.measured[-1] == everything.expected[-1] == 0


def test_buckets(vectors):
    case = vectors["bucket"]
    found = samples.buckets(case["errors"], case["complexity"], case["k"], tuple(case["range"]))
    for bucket, expected in zip(found, case["expected"], strict=True):
        assert bucket.count == expected["n"]
        assert (bucket.mean, bucket.std) == pytest.approx((expected["mean"], expected["std_pop"]))
        assert bucket.band == pytest.approx(expected["band2"])


def test_an_empty_bucket_has_no_mean_and_the_last_holds_its_upper_end():
    first, second, third = samples.buckets([1, 2], [0.1, 3.0], 3, (0, 3))
    assert (first.count, second.count, third.count) == (1, 0, 1)
    assert math.isnan(second.mean)


def test_the_spaces_hold_as_many_models_as_printed(vectors):
    case = vectors["design_space_counts"]
    for name, expected in case["table2"].items():
        if name != "formula":
            assert SPACES[name].total == expected["total"]
    assert [space.printed for space in definitions.NETWORK_SPACES[1:]] == ["1,259,712", "11,390,625", "52,734,375"]
    for name, expected in case["table3"].items():
        if name != "formula":
            space = SPACES[name]
            assert (len(space.operations), space.nodes) == (expected["o"], expected["k"])
            assert space.total == expected["cells"]
            assert space.printed == f"{expected['B']:,}"
            assert len(set(space.operations)) == len(space.operations)


def test_the_spaces_have_the_allowed_values(vectors):
    case = vectors["design_space_counts"]["allowed_values"]
    for name in ("Vanilla", "ResNet"):
        assert list(SPACES[name].depths) == case["depth_9"]
        assert list(SPACES[name].widths) == case["width_12"]
    for short, name in (("RX-A", "ResNeXt-A"), ("RX-B", "ResNeXt-B")):
        space = SPACES[name]
        values = [space.depths, space.widths, space.ratios, space.groups]
        assert [list(one) for one in values] == [case[short][key] for key in ("d", "w", "ratio", "groups")]


def test_parameters_and_flops_are_those_of_pycls(vectors):
    case = vectors["complexity_model"]
    for network in case["computed"]:
        more = [tuple(network[key]) for key in ("ratios", "groups") if key in network]
        found = definitions.one_network(
            SPACES[network["space"]], tuple(network["depths"]), tuple(network["widths"]), *more
        )
        assert [found.flops, found.params] == network["flops_params"]
    published = (("ResNet", 9, "R-56"), ("ResNet", 18, "R-110"), ("Vanilla", 9, "V-56"))
    for name, depth, known in published:
        found = definitions.one_network(SPACES[name], (depth,) * 3, (16, 32, 64))
        assert found.params == case["published"][known]["params"]
        assert found.flops == case["published"][known]["flops"]


@pytest.mark.parametrize("measure", ["params", "flops"])
def test_every_network_below_a_cap_is_counted(vectors, measure):
    caps = {"params": definitions.PARAMS_CAP, "flops": definitions.FLOPS_CAP}
    key = next(one for one in vectors["complexity_model"] if measure in one and "population" in one)
    for name, expected in vectors["complexity_model"][key].items():
        found = exact.networks_below(SPACES[name], measure, [caps[measure], 1e15])
        assert found.tolist() == [expected, SPACES[name].total]


def test_resnext_a_has_many_small_models_and_b_a_heavy_tail():
    a, b = (exact.distribution(SPACES[name], "params", 36, 856_000) for name in ("ResNeXt-A", "ResNeXt-B"))
    assert (a.median_bin, b.median_bin) == (8, 18)
    assert round(float(a.shares.max()), 3) == 0.084


def test_sampled_networks_are_uniform_below_the_caps():
    space = SPACES["ResNeXt-A"]
    found = definitions.sample_networks(space, 2000, seed=3, params_below=856_000)
    assert found.params.shape == (2000,) and found.params.max() < 856_000
    bins = exact.distribution(space, "params", 4, 856_000)
    drawn = np.histogram(found.params, bins.edges)[0] / 2000
    assert drawn == pytest.approx(bins.shares, abs=0.04)
    one = definitions.one_network(
        space, *(tuple(map(int, part[0])) for part in (found.depths, found.widths, found.ratios, found.groups))
    )
    assert (one.params, one.flops) == (found.params[0], found.flops[0])
    again = definitions.sample_networks(space, 2000, seed=3, params_below=856_000)
    assert np.array_equal(found.params, again.params)
    assert definitions.sample_networks(space, 10, seed=0, params_below=1).params.size == 0


def test_sampled_cells_read_what_comes_before_them():
    space = SPACES["DARTS"]
    found = definitions.sample_cells(space, 500, seed=0)
    assert found.inputs.shape == found.operations.shape == (500, 4, 2)
    assert found.inputs.max(axis=(0, 2)).tolist() == [1, 2, 3, 4]
    assert found.operations.max() == 7 and set(found.widths) == {16, 24, 32}


@given(some.lists(some.integers(0, 9), min_size=2, max_size=20), some.data())
@FEW
def test_the_distance_of_a_sample_is_that_of_the_ks_test(everything, data):
    sample = data.draw(some.lists(some.sampled_from(everything), min_size=1, max_size=10))
    expected = comparison.ks_test(sample, everything).statistic
    assert samples.sample_distance(everything, sample) == pytest.approx(expected)
