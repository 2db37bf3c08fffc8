"""Checks beyond the format: each names what it should, at its weight, and is silent about a fair dataset."""

import shutil
import zipfile

import numpy as np
import pytest
import scipy.sparse

from datasets.checks import check_folder, difficulty
from datasets.checks.baselines import Baseline, best_baseline
from datasets.checks.duplicates import row_hashes, rows_in_two_parts
from datasets.checks.features import constant_features, identifiers
from datasets.checks.finding import Finding, Severity
from datasets.checks.giveaway import telling_features
from datasets.checks.leaks import leaked_solutions
from datasets.checks.targets import classes_in_train, metric_defined, order_of_rows
from tests.platform.datasets.materials import MULTICLASS, MULTILABEL, REGRESSION, material, noise, thin, written


def only(found):
    (finding,) = list(found)
    return finding


def leaks(folder, reachable=None):
    return list(leaked_solutions(material(folder), folder, reachable))


class TestTargets:
    def test_a_metric_that_is_not_defined_on_the_test_part_refuses_the_dataset(self, tmp_path):
        X, _ = noise()
        # Read as regression, where a constant target is no error of the format alone.
        of = material(written(tmp_path, X, X[:, 0], task=REGRESSION, metric="r2"))
        of.parsed.solutions["test"][:] = 3.0
        finding = only(metric_defined(of))
        assert (finding.code, finding.severity, finding.place) == ("metric", Severity.ERROR, "small_test.solution")

    def test_a_label_that_is_left_out_of_the_score_is_a_warning(self, tmp_path):
        X, y = noise()
        labels = np.column_stack([y, 1 - y, np.r_[np.ones(60), np.zeros(40)]]).astype(int)
        found = list(metric_defined(material(written(tmp_path, X, labels, task=MULTILABEL, metric="auc"))))
        assert {finding.severity for finding in found} == {Severity.WARNING}
        assert "1 column" in found[0].sentence

    def test_a_label_without_a_positive_training_row_is_named(self, tmp_path):
        X, y = noise()
        labels = np.column_stack([y, np.r_[np.zeros(60), np.ones(40)]]).astype(int)
        names = ["cat", "dog"]
        of = material(written(tmp_path, X, labels, task=MULTILABEL, metric="f1", label_names=names))
        sentences = [finding.sentence for finding in classes_in_train(of)]
        assert any("1 (dog)" in sentence for sentence in sentences)

    def test_a_class_with_one_training_row_is_a_note(self, tmp_path):
        X, y = noise()
        y[[7, 70, 90]] = 2
        of = material(written(tmp_path, X, y, task=MULTICLASS, metric="bac"))
        assert only(classes_in_train(of)).severity == Severity.NOTE

    def test_hidden_rows_sorted_by_their_target_are_a_warning(self, tmp_path):
        X, y = noise(300)
        y[-100:] = np.sort(y[-100:])
        of = material(written(tmp_path, X, y, rows=(150, 50)))
        assert [finding.place for finding in order_of_rows(of)] == ["small_test.solution"]

    def test_shuffled_rows_are_not(self, tmp_path):
        X, y = noise(300)
        assert not list(order_of_rows(material(written(tmp_path, X, y, rows=(150, 50)))))


class TestDuplicates:
    def test_test_rows_that_are_training_rows_are_counted(self, tmp_path):
        X, y = noise()
        X[-5:] = X[:5]
        finding = only(rows_in_two_parts(material(written(tmp_path, X, y))))
        assert (finding.severity, finding.place) == (Severity.WARNING, "small_test.data")
        assert "5 rows of 20 (25.0%)" in finding.sentence

    def test_sparse_rows_are_compared_too_and_empty_rows_are_no_duplicates(self, tmp_path):
        X = thin(100, 50)
        X[[3, 95], :] = 0
        X[99, :] = X[1, :]
        y = noise()[1]
        finding = only(rows_in_two_parts(material(written(tmp_path, X.tocsr(), y, sparse=True))))
        assert "1 row of 20" in finding.sentence

    def test_a_hash_depends_on_values_and_places_alone(self):
        dense = np.array([[0.0, 1.0, np.nan], [-0.0, 1.0, np.nan], [1.0, 0.0, np.nan], [0.0, 0.0, 0.0]])
        hashes = row_hashes(dense)
        assert hashes[0] == hashes[1] != hashes[2]
        assert hashes[3] == 0
        assert row_hashes(scipy.sparse.csr_matrix(dense)).tolist() == hashes.tolist()

    def test_pieces_of_a_table_hash_like_the_whole(self, monkeypatch):
        table = np.random.default_rng(0).normal(size=(50, 7))
        whole = row_hashes(table)
        monkeypatch.setattr("datasets.checks.duplicates.PIECE", 20)
        assert row_hashes(table).tolist() == whole.tolist()
        assert row_hashes(scipy.sparse.csr_matrix(table)).tolist() == whole.tolist()


class TestFeatures:
    def test_a_constant_feature_is_named(self, tmp_path):
        X, y = noise()
        X[:, 2] = 7
        X[::3, 2] = np.nan
        of = material(written(tmp_path, X, y, feature_names=["a", "b", "c", "d"]))
        assert "feature 3 (c)" in only(constant_features(of)).sentence

    def test_words_that_never_occur_are_a_note(self, tmp_path):
        X = thin(100, 30)
        X[:, 4] = 0
        of = material(written(tmp_path, X.tocsr(), noise()[1], sparse=True))
        finding = only(constant_features(of))
        assert finding.severity == Severity.NOTE
        assert "feature 5" in finding.sentence

    def test_an_identifier_is_named(self, tmp_path):
        X, y = noise()
        X[:, 1] = np.random.default_rng(3).permutation(1_000)[:100]
        assert "feature 2" in only(identifiers(material(written(tmp_path, X, y)))).sentence

    def test_a_feature_that_rises_with_the_row_is_named(self, tmp_path):
        X, y = noise()
        X[:, 1] = np.arange(100) * 0.5
        finding = only(identifiers(material(written(tmp_path, X, y))))
        assert "rises or falls with the row number: feature 2" in finding.sentence

    @pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
    def test_a_feature_that_gives_the_target_away_is_named(self, tmp_path, task):
        X, y = noise(200)
        rng = np.random.default_rng(5)
        if task == "regression":
            y = rng.normal(size=200)
            X[:, 3] = np.exp(-y)
        else:
            y = y if task == "binary" else rng.integers(0, 4, size=200)
            X[:, 3] = -3.0 * y + rng.normal(size=200) * 0.01
        metric = "r2" if task == "regression" else "bac"
        of = material(written(tmp_path, X, y, task=task, metric=metric, rows=(120, 40)))
        finding = only(telling_features(of))
        assert finding.severity == Severity.WARNING
        assert "feature 4" in finding.sentence

    def test_a_large_table_is_looked_at_in_part_first(self, tmp_path):
        X, y = noise(900)
        X[:, 1] = y + 0.1 * X[:, 0].clip(-1, 1)
        of = material(written(tmp_path, X, y, rows=(700, 100)))
        assert "feature 2" in only(telling_features(of)).sentence

    def test_a_word_that_gives_a_label_away_is_named(self, tmp_path):
        X = thin(150, 40)
        y = noise(150)[1]
        X[:, 8] = 2.5 * y[:, np.newaxis]
        labels = np.column_stack([noise(150, seed=2)[1], y])
        folder = written(tmp_path, X.tocsr(), labels, task=MULTILABEL, sparse=True, rows=(100, 20))
        assert "label 1 away: feature 9" in only(telling_features(material(folder))).sentence

    def test_noise_gives_nothing_away(self, tmp_path):
        of = material(written(tmp_path, *noise()))
        assert not [*telling_features(of), *identifiers(of), *constant_features(of), *rows_in_two_parts(of)]


class TestLeaks:
    def test_a_fair_dataset_leaks_nothing(self, tmp_path):
        assert leaks(written(tmp_path, *noise(columns=30))) == []

    def test_the_solution_under_the_name_of_a_public_file_is_an_error(self, tmp_path):
        folder = written(tmp_path, *noise(150), rows=(60, 30))
        shutil.copy(folder / "small_test.solution", folder / "small_train.solution")
        finding = only(leaks(folder)[:1])
        assert (finding.code, finding.severity) == ("leak", Severity.ERROR)
        assert "small_train.solution" in finding.sentence

    @pytest.mark.parametrize("names", [(0, 1), (1, 0), (5, -2)])
    def test_a_feature_that_holds_the_targets_is_an_error_whatever_the_classes_are_called(self, tmp_path, names):
        X, y = noise(150)
        X[:, 2] = np.where(y == 0, *names)
        found = leaks(written(tmp_path, X, y, rows=(60, 30)))
        assert {finding.place for finding in found} == {"small_valid.solution", "small_test.solution"}
        assert all("feature 3" in finding.sentence for finding in found)

    def test_the_targets_of_a_regression_are_found_among_the_features(self, tmp_path):
        X, _ = noise(150)
        folder = written(tmp_path, X, X[:, 1] * 1.0, task=REGRESSION, metric="r2", rows=(60, 30))
        assert "feature 2" in leaks(folder)[0].sentence

    def test_a_sparse_feature_that_holds_the_class_is_found(self, tmp_path):
        X = thin(150, 40)
        y = noise(150)[1]
        X[:, 8] = 2.5 * y[:, np.newaxis]
        folder = written(tmp_path, X.tocsr(), y, sparse=True, rows=(60, 30))
        assert "feature 9" in leaks(folder)[0].sentence

    def test_few_rows_may_agree_by_chance(self, tmp_path):
        X, y = noise(30)
        X[:, 2] = y
        assert leaks(written(tmp_path, X, y, rows=(10, 8))) == []

    @pytest.mark.parametrize("kind", ["csv", "zip", "npy", "folder"])
    def test_a_file_that_others_can_reach_is_opened(self, tmp_path, kind):
        X, y = noise(150)
        folder = written(tmp_path / "own", X, y, rows=(60, 30))
        hidden = y[-60:]
        text = "id,answer\n" + "".join(f"{i},{'yes' if value else 'no'}\n" for i, value in enumerate(hidden))
        reached = tmp_path / "kit"
        reached.mkdir()
        (reached / "notes.txt").write_text("nothing to see\n")
        (reached / "answers.csv").write_text(text)
        if kind == "csv":
            reached = reached / "answers.csv"
        elif kind == "npy":
            reached = reached / "answers.npy"
            np.save(reached, hidden)
        elif kind == "zip":
            with zipfile.ZipFile(tmp_path / "kit.zip", "w") as archive:
                archive.write(reached / "answers.csv", "deep/inside/answers.csv")
            reached = tmp_path / "kit.zip"
        finding = only(leaks(folder, [reached]))
        assert "answers." in finding.sentence
        assert finding.place == "small_test.solution"

    def test_a_reachable_copy_of_the_file_is_found_by_its_hash(self, tmp_path):
        folder = written(tmp_path / "own", *noise(150), rows=(60, 30))
        shutil.copy(folder / "small_test.solution", tmp_path / "blob.bin")
        assert "blob.bin" in only(leaks(folder, [tmp_path / "blob.bin"])).sentence

    def test_a_zip_that_cannot_be_opened_is_named(self, tmp_path):
        folder = written(tmp_path / "own", *noise(150), rows=(60, 30))
        broken = tmp_path / "kit.zip"
        with zipfile.ZipFile(broken, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("answers.csv", "1\n" * 1000)
        content = broken.read_bytes()
        broken.write_bytes(content[:45] + b"\xff\xff\xff" + content[48:])
        finding = only(leaks(folder, [broken]))
        assert (finding.severity, finding.place) == (Severity.WARNING, "kit.zip")

    def test_files_that_are_no_tables_are_passed_over(self, tmp_path):
        folder = written(tmp_path / "own", *noise(150), rows=(60, 30))
        for name, content in {
            "a.npy": b"\x93NUMPY nonsense",
            "b.csv": b'"\n' * 60,
            "c.zip": b"PK\x03\x04",
        }.items():
            (tmp_path / name).write_bytes(content)
        assert leaks(folder, [tmp_path / "a.npy", tmp_path / "b.csv", tmp_path / "c.zip"]) == []


class TestDifficulty:
    @pytest.mark.parametrize(("error", "rows"), [(0.5, 100), (0.1, 500), (0.05, 1000), (0.01, 5000)])
    def test_the_rule_of_the_chapter_gives_its_rows(self, error, rows):
        assert difficulty.rows_needed(error) == rows
        assert difficulty.error_told(rows) == pytest.approx(error)

    def test_the_smallest_class_decides_and_a_baseline_says_what_it_would_need(self, tmp_path):
        of = material(written(tmp_path, *noise(700), rows=(60, 20)))
        smallest = int(of.counts("test").min())
        baseline = Baseline("linear model", "test", 500, 0.8, 0.02, 0.05)
        finding = next(f for f in difficulty.size_of_parts(of, baseline) if f.place == "small_test.solution")
        assert finding.severity == Severity.WARNING
        assert f"{smallest} rows" in finding.sentence
        assert "asks for 1,000 rows" in finding.sentence

    def test_enough_rows_are_a_note(self, tmp_path):
        of = material(written(tmp_path, *noise(700), rows=(60, 20)))
        finding = next(f for f in difficulty.size_of_parts(of, None) if f.place == "small_test.solution")
        assert finding.severity == Severity.NOTE

    @pytest.mark.parametrize(
        ("value", "word", "severity"),
        [
            (0.99, "too easy", Severity.WARNING),
            (0.01, "too hard", Severity.WARNING),
            (0.5, "reaches", Severity.NOTE),
        ],
    )
    def test_what_baselines_reach_says_whether_the_task_is_worth_setting(self, tmp_path, value, word, severity):
        of = material(written(tmp_path, *noise()))
        finding = only(difficulty.too_easy_or_hard(of, Baseline("naive Bayes", "test", 20, value, 0.02, None)))
        assert finding.severity == severity
        assert word in finding.sentence

    def test_the_expected_error_bar_shrinks_with_the_root_of_the_rows(self):
        assert difficulty.error_bar(Baseline("x", "test", 100, 0.5, 0.04, None), 400) == pytest.approx(0.02)

    @pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel", "regression", "sparse"])
    def test_a_baseline_learns_what_is_easy(self, tmp_path, task):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(160, 3)).round(3)
        X[rng.random(X.shape) < 0.05] = np.nan
        filled = np.nan_to_num(X)
        y = (filled[:, 0] > 0).astype(int)
        fields = {"metric": "bac"}
        if task == "multiclass":
            y = filled.argmax(axis=1)
        elif task == "multilabel":
            y = (filled > 0).astype(int)
        elif task == "regression":
            y, fields = filled[:, 0] * 10, {"metric": "r2"}
        elif task == "sparse":
            X = scipy.sparse.csr_matrix(np.where(filled > 0, filled, 0))
            fields = {"metric": "auc", "sparse": True}
        name = "binary" if task == "sparse" else task
        best = best_baseline(material(written(tmp_path, X, y, task=name, rows=(100, 0), **fields)))
        assert best.value > 0.3
        assert best.rows == 60

    def test_too_few_rows_have_no_baseline(self, tmp_path):
        assert best_baseline(material(written(tmp_path, *noise(60), rows=(30, 10)))) is None


class TestTogether:
    def test_findings_come_with_the_gravest_first_and_progress_is_told(self, tmp_path):
        X, y = noise(80)
        X[:, 2], X[:, 3] = y, 1
        folder = written(tmp_path, X, y, rows=(20, 10))
        told = []
        facts = material(folder).facts
        found = check_folder(folder, facts, progress=lambda fraction, sentence: told.append(fraction))
        weights = [list(Severity).index(finding.severity) for finding in found]
        assert weights == sorted(weights)
        assert {"leak", "constant", "size"} <= {finding.code for finding in found}
        assert told == sorted(told)
        assert told[-1] == 1.0

    def test_a_finding_reads_back_from_json(self):
        finding = Finding("size", Severity.NOTE, "x_test.solution", "it has 3 rows", "add some")
        assert Finding.from_json(finding.to_json()) == finding

    def test_nothing_that_a_file_holds_reaches_a_terminal_unchanged(self):
        assert "\x1b" not in Finding("format", Severity.NOTE, "\x1b[2J", "a\x1bb").sentence
