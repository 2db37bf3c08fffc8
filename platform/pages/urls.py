"""The addresses of the pages. Checks and links of others rely on them."""

from django.urls import path

from pages.views import (
    act,
    analysis,
    analysis_benchmarks,
    analysis_definitions,
    analysis_spaces,
    announcements,
    bundles,
    column_boards,
    competition,
    creating,
    dataset_changes,
    dataset_uploads,
    dataset_wizard,
    datasets,
    fact_sheet,
    leaderboard,
    offered,
    pictures,
    prizes,
    readiness,
    run_files,
    site,
    styleguide,
    submissions,
    team,
    upload,
    vega,
)
from pages.views.studio import announcements as announcements_section
from pages.views.studio import answers as answers_section
from pages.views.studio import audit as audit_section
from pages.views.studio import basic_methods as basic_methods_section
from pages.views.studio import export as export_section
from pages.views.studio import fact_sheet as fact_sheet_section
from pages.views.studio import organizers as organizers_section
from pages.views.studio import overview as overview_section
from pages.views.studio import pages as pages_section
from pages.views.studio import participants as participants_section
from pages.views.studio import phase as phase_section
from pages.views.studio import phases as phases_section
from pages.views.studio import queue as queue_section
from pages.views.studio import rehearsal as rehearsal_section
from pages.views.studio import run_on as run_on_section
from pages.views.studio import settings as settings_section
from pages.views.studio import submissions as submissions_section
from pages.views.studio import teams as teams_section

ONE = "competitions/<slug:slug>/"
SUBMISSION = ONE + "submissions/<int:submission_id>/"
QUESTION = ONE + "manage/fact-sheet/questions/<int:question_id>/"
UPLOADS = "datasets/uploads/"
UPLOAD = UPLOADS + "<int:upload_id>/"
DATASET = "datasets/<slug:dataset_slug>/"
IMPORTS = "competitions/import/"
IMPORT = IMPORTS + "<int:import_id>/"
VERSION = DATASET + "versions/<int:number>/"

urlpatterns = [
    path("", site.home, name="home"),
    path("favicon.ico", site.icon, name="icon"),
    path("styleguide/", styleguide.styleguide, name="styleguide"),
    path("competitions/", site.competition_list, name="competitions"),
    path("competitions/new/", creating.new, name="new_competition"),
    path(IMPORTS, bundles.imports, name="bundle_imports"),
    path(IMPORT, bundles.show, name="bundle_import"),
    path(IMPORT + "answer/", bundles.answer, name="answer_bundle_import"),
    path(IMPORT + "remove/", bundles.remove, name="remove_bundle_import"),
    path(ONE, competition.overview, name="competition"),
    path(ONE + "phases/", competition.phases, name="phases"),
    path(ONE + "datasets/", competition.datasets, name="datasets"),
    path(ONE + "datasets/<int:task_id>/download/", competition.dataset_download, name="dataset_download"),
    path(ONE + "files/<int:file_id>/", offered.phase_file, name="phase_file"),
    path(ONE + "programs/<int:program_id>/", offered.program, name="program_file"),
    path(ONE + "evaluation/", competition.evaluation, name="evaluation"),
    path(ONE + "rules/", competition.rules, name="rules"),
    path(ONE + "pages/<slug:page_slug>/", competition.added_page, name="added_page"),
    path(ONE + "join/", competition.join, name="join"),
    path(ONE + "starting-kit/", competition.starting_kit, name="starting_kit"),
    path(ONE + "submissions/", upload.submissions, name="submissions"),
    path(SUBMISSION, submissions.detail, name="submission"),
    path(SUBMISSION + "cancel/", submissions.cancel, name="cancel_submission"),
    path(SUBMISSION + "choose/", submissions.choose, name="choose_submission"),
    path(SUBMISSION + "leaderboard/", column_boards.put, name="put_on_leaderboard"),
    path(SUBMISSION + "archive/", submissions.archive, name="submission_archive"),
    path(SUBMISSION + "runs/<int:run_id>/log/", submissions.log, name="run_log"),
    path(SUBMISSION + "runs/<int:run_id>/files/<slug:kind>/", run_files.run_file, name="run_file"),
    path(SUBMISSION + "readiness/", readiness.show, name="readiness"),
    path(SUBMISSION + "readiness/ask/", readiness.ask, name="check_readiness"),
    path(SUBMISSION + "readiness/cancel/", readiness.cancel, name="cancel_readiness"),
    path(SUBMISSION + "readiness/log/", readiness.log, name="readiness_log"),
    path(ONE + "leaderboard/", leaderboard.leaderboard, name="leaderboard"),
    path(ONE + "leaderboard/history/", leaderboard.leaderboard_history, name="leaderboard_history"),
    path(ONE + "leaderboard.csv", leaderboard.leaderboard_csv, name="leaderboard_csv"),
    path(ONE + "leaderboard.json", leaderboard.leaderboard_json, name="leaderboard_json"),
    path(ONE + "manage/", overview_section.manage, name="manage"),
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
    path(
        SUBMISSION + "runs/<int:run_id>/predictions/<int:file_id>/", submissions.prediction, name="prediction_file"
    ),
    path(ONE + "manage/submissions/", submissions_section.submissions, name="manage_submissions"),
    path(ONE + "manage/submissions/many/", submissions_section.choose_many, name="choose_many"),
    path(ONE + "manage/submissions/many/<int:work_id>/", submissions_section.bulk_work, name="bulk_work"),
    path(ONE + "manage/queue/", queue_section.queue, name="manage_queue"),
]
urlpatterns += RUNS

# The studio of the competition itself: its state, its settings, its pages and their pictures.
MANAGE = ONE + "manage/"
CONTEST = [
    path(MANAGE + "step/<slug:step>/", overview_section.take_step, name="manage_step"),
    path(MANAGE + "clone/", overview_section.clone, name="clone"),
    path(MANAGE + "settings/", settings_section.settings, name="manage_settings"),
    path(MANAGE + "pages/", pages_section.pages, name="manage_pages"),
    path(MANAGE + "pages/add/", pages_section.add_page, name="add_page"),
    path(MANAGE + "pages/preview/", pages_section.preview, name="preview_page"),
    path(MANAGE + "pages/text/<slug:which>/", pages_section.edit_text, name="edit_text"),
    path(MANAGE + "pages/<int:page_id>/", pages_section.edit_page, name="edit_page"),
    path(MANAGE + "pages/<int:page_id>/move/", pages_section.move_page, name="move_page"),
    path(MANAGE + "pages/<int:page_id>/remove/", pages_section.remove_page, name="remove_page"),
    path(MANAGE + "pictures/add/", pages_section.add_picture, name="add_picture"),
    path(MANAGE + "pictures/<int:picture_id>/remove/", pages_section.remove_picture, name="remove_picture"),
    path(ONE + "images/<str:name>", pictures.picture, name="picture"),
    path(MANAGE + "export/", export_section.export, name="manage_export"),
    path(MANAGE + "export/<int:export_id>/", export_section.download, name="download_export"),
    path(MANAGE + "export/<int:export_id>/remove/", export_section.remove, name="remove_export"),
]
urlpatterns += CONTEST

# The section on rounds, phases and their datasets.
IN_PHASES = ONE + "manage/phases/"
ONE_ROUND = IN_PHASES + "rounds/<int:round_id>/"
ONE_PHASE = IN_PHASES + "<int:phase_id>/"
PHASES = [
    path(IN_PHASES, phases_section.phases, name="manage_phases"),
    path(IN_PHASES + "dates/", phases_section.dates, name="manage_dates"),
    path(IN_PHASES + "zone/", phases_section.zone, name="manage_zone"),
    path(IN_PHASES + "fill/", phases_section.fill, name="manage_fill"),
    path(IN_PHASES + "add/", phase_section.add_phase, name="manage_add_phase"),
    path(IN_PHASES + "datasets/", phase_section.add_tasks, name="manage_add_tasks"),
    path(IN_PHASES + "rounds/add/", phases_section.add_round, name="manage_add_round"),
    path(ONE_ROUND, phases_section.edit_round, name="manage_round"),
    path(ONE_ROUND + "remove/", phases_section.remove_round, name="manage_remove_round"),
    path(ONE_PHASE, phase_section.edit_phase, name="manage_phase"),
    path(ONE_PHASE + "datasets/", phase_section.edit_tasks, name="manage_tasks"),
    path(ONE_PHASE + "move/", phase_section.move_phase, name="manage_move_phase"),
    path(ONE_PHASE + "remove/", phase_section.remove_phase, name="manage_remove_phase"),
]
urlpatterns += PHASES

# Teams and fact sheets: the participants' pages and the organizers' sections.
TEAMS = [
    path(ONE + "team/", team.show, name="team"),
    path(ONE + "team/do/<slug:what>/", team.do, name="team_do"),
    path(ONE + "team/link/<str:secret>/", team.link, name="team_link"),
    path(ONE + "fact-sheet/", fact_sheet.fact_sheet, name="fact_sheet"),
    path(ONE + "manage/teams/", teams_section.teams, name="manage_teams"),
    path(ONE + "manage/teams/<int:team_id>/", teams_section.team, name="manage_team"),
    path(ONE + "manage/teams/<int:team_id>/rename/", teams_section.rename, name="rename_team"),
    path(ONE + "manage/teams/<int:team_id>/remove/", teams_section.remove, name="remove_team_member"),
    path(ONE + "manage/teams/<int:team_id>/dissolve/", teams_section.dissolve, name="dissolve_team"),
    path(ONE + "manage/fact-sheet/", fact_sheet_section.questions, name="manage_fact_sheet"),
    path(ONE + "manage/fact-sheet/add/", fact_sheet_section.add, name="add_question"),
    path(QUESTION, fact_sheet_section.edit, name="edit_question"),
    path(QUESTION + "move/", fact_sheet_section.move, name="move_question"),
    path(QUESTION + "remove/", fact_sheet_section.remove, name="remove_question"),
    path(ONE + "manage/fact-sheet/answers/", answers_section.summary, name="fact_sheet_answers"),
    path(ONE + "manage/fact-sheet/entrants/", answers_section.entrants, name="fact_sheet_entrants"),
    path(ONE + "manage/fact-sheet/entrants/<int:entrant_id>/", answers_section.sheet, name="fact_sheet_of"),
    path(ONE + "manage/fact-sheet/answers.csv", answers_section.answers_csv, name="fact_sheet_csv"),
    path(ONE + "manage/fact-sheet/answers.json", answers_section.answers_json, name="fact_sheet_json"),
]
urlpatterns += TEAMS

# Participants, organizers, announcements and the audit log.
PEOPLE = [
    path(ONE + "announcements/", announcements.announcements, name="announcements"),
    path(ONE + "announcements/mail/", announcements.set_mail, name="announcement_mail"),
    path("mail/stop/<str:token>/", announcements.stop_mail, name="stop_mail"),
    path(ONE + "manage/participants/", participants_section.participants, name="manage_participants"),
    path(ONE + "manage/participants.csv", participants_section.as_csv, name="manage_participants_csv"),
    path(ONE + "manage/participants/decide/", participants_section.decide, name="decide_participants"),
    path(ONE + "manage/announcements/", announcements_section.announcements, name="manage_announcements"),
    path(ONE + "manage/announcements/new/", announcements_section.compose, name="new_announcement"),
    path(
        ONE + "manage/announcements/<int:announcement_id>/",
        announcements_section.announcement,
        name="manage_announcement",
    ),
    path(
        ONE + "manage/announcements/<int:announcement_id>/again/",
        announcements_section.send_again,
        name="send_announcement_again",
    ),
    path(ONE + "manage/organizers/", organizers_section.organizers, name="manage_organizers"),
    path(ONE + "manage/organizers/give/", organizers_section.give, name="give_role"),
    path(ONE + "manage/organizers/take/", organizers_section.take, name="take_role"),
    path(ONE + "manage/audit/", audit_section.log, name="manage_audit"),
    path(ONE + "manage/audit.csv", audit_section.as_csv, name="manage_audit_csv"),
    path(ONE + "manage/audit.json", audit_section.as_json, name="manage_audit_json"),
]
urlpatterns += PEOPLE

# The rehearsal.
REHEARSAL = [
    path(ONE + "manage/rehearsal/", rehearsal_section.rehearsal, name="manage_rehearsal"),
    path(ONE + "manage/rehearsal/start/", rehearsal_section.start, name="start_rehearsal"),
    path(ONE + "manage/rehearsal/advance/", rehearsal_section.advance, name="advance_rehearsal"),
    path(ONE + "manage/rehearsal/throw-away/", rehearsal_section.throw_away, name="throw_away_rehearsal"),
]
urlpatterns += REHEARSAL

# The analyses: of a competition, and of what is compared without one.
ANALYSIS = [
    path(ONE + "analysis/", analysis.index, name="analysis"),
    path(ONE + "analysis/report/", analysis.report, name="analysis_report"),
    path(ONE + "analysis/report.html", analysis.report_file, name="analysis_report_file"),
    path(ONE + "analysis/<slug:section>/", analysis.section, name="analysis_section"),
    path(ONE + "analysis/<slug:section>/again/", analysis.again, name="analysis_again"),
    path(ONE + "analysis/<slug:section>/<slug:name>.<slug:suffix>", analysis.file, name="analysis_file"),
    path("vega/<slug:version>.js", vega.script, name="vega"),
]
urlpatterns += ANALYSIS

# The basic methods, which the platform runs itself.
BASIC_METHODS = [
    path(ONE + "manage/basic-methods/", basic_methods_section.basic_methods, name="manage_basic_methods"),
    path(ONE + "manage/basic-methods/run/", basic_methods_section.run, name="run_basic_methods"),
    path(ONE + "manage/basic-methods/remove/", basic_methods_section.remove, name="remove_basic_methods"),
]
urlpatterns += BASIC_METHODS

# Benchmarks in MementoML's format.
ONE_BENCHMARK = "analysis/benchmarks/<int:benchmark_id>/"
BENCHMARKS = [
    path("analysis/benchmarks/", analysis_benchmarks.benchmarks, name="benchmarks"),
    path(ONE_BENCHMARK, analysis_benchmarks.benchmark, name="benchmark"),
    path(ONE_BENCHMARK + "export.zip", analysis_benchmarks.export, name="benchmark_export"),
    path(ONE_BENCHMARK + "publish/", analysis_benchmarks.publish, name="benchmark_publish"),
    path(ONE_BENCHMARK + "delete/", analysis_benchmarks.delete, name="benchmark_delete"),
    path(ONE_BENCHMARK + "<slug:view>/", analysis_benchmarks.benchmark, name="benchmark_view"),
    path(ONE_BENCHMARK + "<slug:view>/<slug:name>.<slug:suffix>", analysis_benchmarks.file, name="benchmark_file"),
]
urlpatterns += BENCHMARKS

# Runs that go on beyond their budget.
RUN_ON = [
    path(ONE + "manage/run-on/", run_on_section.run_on, name="manage_run_on"),
    path(ONE + "manage/run-on/run/", run_on_section.run, name="run_on"),
    path(ONE + "manage/run-on/remove/", run_on_section.remove, name="remove_run_on"),
]
urlpatterns += RUN_ON

# Sets of models and design spaces.
SPACES = [
    path("analysis/", analysis_definitions.hub, name="analysis_hub"),
    path("analysis/spaces/", analysis_spaces.spaces, name="spaces"),
    path("analysis/spaces/<slug:name>.<slug:suffix>", analysis_spaces.file, name="spaces_file"),
    path("analysis/spaces/send/", analysis_spaces.upload, name="spaces_upload"),
    path("analysis/spaces/own/<int:population_id>/delete/", analysis_spaces.delete, name="spaces_delete"),
    path("analysis/spaces/definitions/", analysis_definitions.definitions, name="space_definitions"),
    path("analysis/spaces/definitions/sample/", analysis_definitions.sample, name="space_sample"),
    path(
        "analysis/spaces/definitions/<slug:name>.<slug:suffix>",
        analysis_definitions.file,
        name="space_definition_file",
    ),
]
urlpatterns += SPACES
