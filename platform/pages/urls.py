"""The addresses of the pages. Checks and links of others rely on them."""

from django.urls import path

from pages.views import (
    act,
    competition,
    dataset_changes,
    dataset_uploads,
    dataset_wizard,
    datasets,
    leaderboard,
    manage,
    prizes,
    readiness,
    site,
    styleguide,
    submissions,
    upload,
)
from pages.views.studio import queue as queue_section
from pages.views.studio import submissions as submissions_section

ONE = "competitions/<slug:slug>/"
SUBMISSION = ONE + "submissions/<int:submission_id>/"
UPLOADS = "datasets/uploads/"
UPLOAD = UPLOADS + "<int:upload_id>/"
DATASET = "datasets/<slug:dataset_slug>/"
VERSION = DATASET + "versions/<int:number>/"

urlpatterns = [
    path("", site.home, name="home"),
    path("favicon.ico", site.icon, name="icon"),
    path("styleguide/", styleguide.styleguide, name="styleguide"),
    path("competitions/", site.competition_list, name="competitions"),
    path(ONE, competition.overview, name="competition"),
    path(ONE + "phases/", competition.phases, name="phases"),
    path(ONE + "datasets/", competition.datasets, name="datasets"),
    path(ONE + "datasets/<int:task_id>/download/", competition.dataset_download, name="dataset_download"),
    path(ONE + "evaluation/", competition.evaluation, name="evaluation"),
    path(ONE + "rules/", competition.rules, name="rules"),
    path(ONE + "pages/<slug:page_slug>/", competition.added_page, name="added_page"),
    path(ONE + "join/", competition.join, name="join"),
    path(ONE + "starting-kit/", competition.starting_kit, name="starting_kit"),
    path(ONE + "submissions/", upload.submissions, name="submissions"),
    path(SUBMISSION, submissions.detail, name="submission"),
    path(SUBMISSION + "cancel/", submissions.cancel, name="cancel_submission"),
    path(SUBMISSION + "choose/", submissions.choose, name="choose_submission"),
    path(SUBMISSION + "archive/", submissions.archive, name="submission_archive"),
    path(SUBMISSION + "runs/<int:run_id>/log/", submissions.log, name="run_log"),
    path(SUBMISSION + "readiness/", readiness.show, name="readiness"),
    path(SUBMISSION + "readiness/ask/", readiness.ask, name="check_readiness"),
    path(SUBMISSION + "readiness/cancel/", readiness.cancel, name="cancel_readiness"),
    path(SUBMISSION + "readiness/log/", readiness.log, name="readiness_log"),
    path(ONE + "leaderboard/", leaderboard.leaderboard, name="leaderboard"),
    path(ONE + "leaderboard/history/", leaderboard.leaderboard_history, name="leaderboard_history"),
    path(ONE + "leaderboard.csv", leaderboard.leaderboard_csv, name="leaderboard_csv"),
    path(ONE + "leaderboard.json", leaderboard.leaderboard_json, name="leaderboard_json"),
    path(ONE + "manage/", manage.manage, name="manage"),
    path(ONE + "manage/act/<slug:action>/", act.act, name="act"),
    path(ONE + "prizes/<int:number>/", prizes.prize, name="prize"),
    path(ONE + "published/<int:submission_id>/", prizes.published_code, name="published_code"),
    path("datasets/", datasets.library, name="library"),
    path(UPLOADS, dataset_uploads.uploads, name="dataset_uploads"),
    path(UPLOADS + "begin/", dataset_uploads.begin, name="begin_dataset_upload"),
    path(UPLOAD, dataset_uploads.upload_page, name="dataset_upload"),
    path(UPLOAD + "content/", dataset_uploads.content, name="dataset_upload_content"),
    path(UPLOAD + "import/", dataset_uploads.import_checked, name="import_dataset_upload"),
    path(UPLOAD + "remove/", dataset_uploads.remove, name="remove_dataset_upload"),
    path(UPLOAD + "prepare/", dataset_wizard.prepare, name="prepare_dataset"),
    path(DATASET, datasets.dataset, name="dataset"),
    path(DATASET + "edit/", dataset_changes.edit, name="edit_dataset"),
    path(DATASET + "share/", dataset_changes.share, name="share_dataset"),
    path(DATASET + "unshare/", dataset_changes.unshare, name="unshare_dataset"),
    path(DATASET + "publish/", dataset_changes.publish, name="publish_dataset"),
    path(DATASET + "croissant.json", datasets.croissant_file, name="dataset_croissant"),
    path(DATASET + "datasheet.md", datasets.datasheet_file, name="dataset_datasheet"),
    path(DATASET + "versions/", datasets.versions, name="dataset_versions"),
    path(VERSION + "file/", datasets.download, name="dataset_file"),
    path(VERSION + "recipe.json", datasets.recipe, name="dataset_recipe"),
    path(VERSION + "use/", dataset_changes.use_version, name="use_dataset_version"),
    path(VERSION + "remove/", dataset_changes.remove_version, name="remove_dataset_version"),
]

# The sections on submissions, the queue and the workers.
RUNS = [
    path(ONE + "manage/submissions/", submissions_section.submissions, name="manage_submissions"),
    path(ONE + "manage/queue/", queue_section.queue, name="manage_queue"),
]
urlpatterns += RUNS
