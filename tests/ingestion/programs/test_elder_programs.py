"""Programs that were written for older packages run with those of today."""

ELDER = """
    import collections, sys, time
    import numpy as np
    import pandas as pd
    import scipy, yaml
    import sklearn.externals.joblib
    from sklearn.externals import joblib
    from sklearn.metrics import mean_squared_error

    assert np.float(1) == 1.0 and np.int("3") == 3 and np.array([1], dtype=np.bool).all() and np.object is object
    assert np.product([2, 3]) == 6 and np.isnan(np.NaN) and np.asscalar(np.array([4])) == 4
    assert np.trapz([1, 1]) == 1 and np.in1d([1], [1]).all()
    assert issubclass(dict, collections.Mapping) and time.clock() >= 0
    frame = pd.DataFrame({"a": [1]}).append({"a": 2}, ignore_index=True).append(pd.DataFrame({"a": [3]}))
    assert list(frame["a"]) == [1, 2, 3] and [name for name, _ in frame.iteritems()] == ["a"]
    assert frame.applymap(lambda value: value + 1)["a"].sum() == 9
    assert float(scipy.interp(0.5, [0, 1], [0, 2])) == 1.0
    assert yaml.load("a: 1") == {"a": 1} and joblib.dump is sklearn.externals.joblib.dump
    error = mean_squared_error([0.0], [2.0], squared=False)
    assert np.__spec__.loader.__class__.__name__ != "Loader"
    open(sys.argv[2] + "/scores.txt", "w").write("error: %r" % float(error))
"""


def test_former_names_of_packages_are_given_back(quick):
    result = quick.evaluate(quick.scorer(ELDER), budget=quick.budget(memory_bytes=2**30))
    assert result.status == "ok", result
    assert result.scores == {"error": 2.0} and "could not be given back" not in result.log_tail


def test_nothing_is_imported_for_programs_that_do_not_ask(quick):
    source = """
        import sys
        open(sys.argv[2] + "/scores.txt", "w").write("packages: %d" % ("numpy" in sys.modules))
    """
    assert quick.evaluate(quick.scorer(source)).scores == {"packages": 0.0}
