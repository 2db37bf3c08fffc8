"""The built-in image for programs of imported competitions."""

import pytest

from ingestion.image_names import BUNDLES_IMAGE
from ingestion.programs.staging import own_image
from ingestion.sandbox.docker import DockerSandbox
from tests.ingestion.programs.steps import Steps

pytestmark = pytest.mark.docker

DRAWS = """
    import io, json, sys
    import matplotlib
    from matplotlib import pyplot
    import numpy, pandas, scipy, sklearn.metrics, yaml, PIL, jinja2, tqdm, seaborn
    assert numpy.float(1) == 1.0 and len(pandas.DataFrame([1]).append([2])) == 2
    pyplot.plot([1, 2], [3, 4])
    page = io.StringIO()
    pyplot.savefig(page, format="svg")
    open(sys.argv[2] + "/detailed_results.html", "w").write(page.getvalue())
    score = sklearn.metrics.roc_auc_score([0, 1], [0.2, 0.7])
    open(sys.argv[2] + "/scores.txt", "w").write(yaml.safe_dump({"auc": float(score)}))
"""


@pytest.fixture
def docker(tmp_path):
    sandbox = DockerSandbox()
    status = sandbox.check()
    if not status.usable or not sandbox.images([BUNDLES_IMAGE]):
        pytest.skip(status.sentence if not status.usable else f"{BUNDLES_IMAGE} is not built")
    return Steps(sandbox, tmp_path)


def test_programs_that_name_no_image_get_python_and_the_usual_packages(docker):
    assert own_image(docker.sandbox) == BUNDLES_IMAGE
    scorer = docker.scorer(DRAWS, "python $program/score.py $input $output")
    result = docker.evaluate(scorer, budget=docker.budget(memory_bytes=2**30))
    assert result.status == "ok", result
    assert result.scores == {"auc": 1.0} and "<svg" in result.details.read_text()
