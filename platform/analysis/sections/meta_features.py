"""Meta-features: what the datasets are like, and whether that tells how hard they are and which method wins."""

import datetime as dt
import re

import numpy as np

from analysis.charts import meta_features as charts
from analysis.inputs.audience import Audience
from analysis.inputs.basic import basic_rows
from analysis.inputs.boards import Loaded, load_boards
from analysis.inputs.datasets import DatasetColumn, by_dataset
from analysis.inputs.meta import Described, Known, described, gather, values_of
from analysis.measures import similarity
from analysis.measures.meta_names import GROUPS
from analysis.references import CHAPTER
from analysis.results import Block, Column, Figure, Heading, Note, Result, Table, rows_of
from analysis.sections.base import Section, Tell
from competitions.models import Competition

MOST_PICTURED = 40  # datasets of the heat map
NEIGHBOURS = 3
FEURER = (
    "Feurer, M., Klein, A., Eggensperger, K., Springenberg, J. T., Blum, M., Hutter, F.: Efficient and Robust "
    "Automated Machine Learning. Advances in Neural Information Processing Systems 28, 2015."
)
PYMFE = (
    "Alcobaça, E., Siqueira, F., Rivolli, A., Garcia, L. P. F., Oliva, J. T., de Carvalho, A. C. P. L. F.: MFE: "
    "Towards reproducible meta-feature extraction. Journal of Machine Learning Research 21(111), 2020."
)
LEDOIT = (
    "Ledoit, O., Wolf, M.: Honey, I Shrunk the Sample Covariance Matrix. "
    "Journal of Portfolio Management 30(4), 2004."
)
METHODS_TEXT = (
    "Meta-features follow auto-sklearn's set (Feurer et al. 2015): sizes, missing values, classes, skewness, "
    "kurtosis, principal components and landmarks of the training part. The winner's score of a dataset was "
    "learned from them by a random forest, judged by R² in a repeated five-fold cross-validation. Which of four "
    "basic methods is best was told by linear discriminants, shrunk after Ledoit and Wolf where features are more "
    "than a third of the datasets, without landmarks, judged by leaving out one dataset at a time beside always "
    "naming the most frequent method."
)


def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """Every board, the meta-features of the datasets that the audience knows, and the basic methods' rows."""
    boards = load_boards(competition, audience, now)
    return Loaded(boards, {"basic": basic_rows(boards), "described": described(boards)})


def build(loaded: Loaded, tell: Tell) -> Result:
    """The datasets' meta-features, their likeness, and what they predict."""
    columns = by_dataset(loaded.boards)
    known = gather(columns, loaded.facts["described"])
    blocks: list[Block] = _missing_notes(columns, loaded.facts["described"])
    if not known.columns:
        return Result("No dataset has meta-features yet.", tuple(blocks))
    blocks += [*_tables(known), *_likeness(known)]
    from analysis.sections import meta_predictions  # loads scikit-learn, which only who computes this needs

    learned = meta_predictions.learn(known, loaded, tell)
    datasets = f"{len(known.columns)} dataset{'s' if len(known.columns) > 1 else ''} with meta-features."
    return Result(
        headline=" ".join([datasets, *learned.sentences]),
        blocks=(*blocks, *learned.blocks),
        methods=METHODS_TEXT,
        references=(FEURER, PYMFE, LEDOIT, CHAPTER),
        extras=learned.extras,
    )


def _missing_notes(columns: list[DatasetColumn], found: dict[int, Described]) -> list[Block]:
    """A sentence for each reason for which datasets have no meta-features here."""
    concealed = [column for column in columns if column.dataset.version_id is None]
    rest = [column for column in columns if column.dataset.version_id and not values_of(column, found)]
    failed = [
        column
        for column in rest
        if (one := found.get(column.dataset.version_id or 0)) and not one.is_waiting and one.sentence
    ]
    notes: list[Block] = []
    if concealed:
        notes.append(Note(f"{_datasets(len(concealed))} still concealed: nothing of them is shown."))
    waiting = len(rest) - len(failed)
    if waiting:
        notes.append(Note(f"{_datasets(waiting)} without meta-features so far: they are computed one by one."))
    for column in failed:
        sentence = found[column.dataset.version_id or 0].sentence
        notes.append(Note(f"{column.dataset.name} has no meta-features: {sentence}", "warning"))
    return notes


def _datasets(count: int) -> str:
    return "1 dataset is" if count == 1 else f"{count} datasets are"


def spaced(name: str) -> str:
    """A meta-feature's name as words, so that a heading can break."""
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z0-9])(?=[A-Z][a-z])", " ", name)


def _tables(known: Known) -> list[Block]:
    published = sum(one.is_published for one in known.described)
    origin = f"{published} of {len(known.columns)} as published by others; " if published else ""
    text = f"Of the training parts; {origin}logarithms are natural, entropies in bits. Files have all digits."
    blocks: list[Block] = [Heading("What the datasets are like", text)]
    named = {name for _, names in GROUPS for name in names}
    groups = [*GROUPS, ("Others", tuple(name for name in known.features if name not in named))]
    for title, names in groups:
        places = [place for place, name in enumerate(known.features) if name in names]
        if not places:
            continue
        columns = (Column("dataset", "Dataset"), *(_column(known, place) for place in places))
        rows = rows_of(known.names, *(known.X[:, place] for place in places))
        blocks.append(Table(f"meta-features-{title.split()[0].strip(',').lower()}", title, columns, rows))
    return blocks


def _column(known: Known, place: int) -> Column:
    values = known.X[np.isfinite(known.X[:, place]), place]
    is_whole = bool((values == np.round(values)).all())
    name = known.features[place]
    return Column(name, spaced(name), "integer" if is_whole else "number", title=name)


def _likeness(known: Known) -> list[Block]:
    distance = similarity.distances(known.X)
    pairs = [(distance[i, j], i, j) for i in range(len(distance)) for j in range(i)]
    pairs = [pair for pair in pairs if np.isfinite(pair[0])]
    if not pairs:
        return [Note("There are too few datasets with meta-features to compare them.")]
    names = known.names
    least, i, j = min(pairs)
    most, k, m = max(pairs)
    sentence = (
        f"{names[j]} and {names[i]} are most alike (distance {least:.3f}), {names[m]} and {names[k]} least "
        f"({most:.3f})."
    )
    shown = min(len(names), MOST_PICTURED)
    cells = [
        {"one": names[row], "other": names[column], "distance": round(float(distance[row, column]), 4)}
        for row in range(shown)
        for column in range(shown)
    ]
    warnings = (f"The picture has the first {shown} of {len(names)} datasets.",) if shown < len(names) else ()
    order = similarity.nearest(distance, count=NEIGHBOURS)
    rows = tuple(
        (names[row], place + 1, names[other], float(distance[row, other]))
        for row, others in enumerate(order)
        for place, other in enumerate(others)
    )
    columns = (
        Column("dataset", "Dataset"),
        Column("place", "Nearest", "integer"),
        Column("other", "Other dataset"),
        Column("distance", "Distance", "number"),
    )
    figure = Figure(
        key="likeness",
        title="How alike the datasets are",
        sentence=sentence,
        spec=charts.likeness(cells, names[:shown]),
        columns=columns,
        rows=rows,
        n=f"{len(names)} datasets, {len(known.features)} meta-features",
        method=(
            "Mean absolute difference of meta-features, each scaled to 0..1 over these datasets (L1 distance as "
            "in Feurer et al. 2015); 0 is the same, 1 the opposite in everything. The table has each dataset's "
            "nearest."
        ),
        warnings=warnings,
    )
    return [figure]


SECTION = Section(
    key="meta_features",
    label="Meta-features",
    question="What are the datasets like, and does that tell how hard they are or which method wins?",
    load=load,
    build=build,
)
