"""Who gets what from every address, by every verb: the table that `test_access` holds the site to.

A row is an address of the URLconf, where one row is not enough with a word in brackets, and gives for each of the
six verbs the status for each role. Rows are put together from a few shapes, because most addresses have one.
"""

from collections.abc import Mapping

from tests.platform.mid_series import ROLES as PEOPLE

VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
ROLES = (*PEOPLE, "worker", "revoked")  # the last two by a token: a worker's, and one that was taken back
Statuses = Mapping[str, int]
Row = Mapping[str, Statuses]

TEAM = ("participant", "mate")
ENTRANTS = (*TEAM, "other")
EDITORS = ("owner", "editor", "admin")
ORGANIZERS = (*EDITORS, "reviewer", "seer")
SEE_HIDDEN = (*EDITORS, "seer")
STRANGERS = ("stranger", "foreign", "clerk")
NOBODY = ("anonymous", "worker", "revoked")  # without a session


def by(default: int, /, *groups: tuple[tuple[str, ...], int], **roles: int) -> Statuses:
    """The status of every role: the default, those of the groups, then those of single roles."""
    got = dict.fromkeys(ROLES, default)
    for group, status in groups:
        got |= dict.fromkeys(group, status)
    return got | roles


ALL_405 = by(405)
FOR_PEOPLE_405 = by(405, (NOBODY, 302))


def verbs(default: Statuses, **given: Statuses) -> Row:
    """The row with these verbs; HEAD is as GET, the rest as the default."""
    row = {verb: given.get(verb, default) for verb in VERBS}
    return row | ({"HEAD": given["GET"]} if "GET" in given and "HEAD" not in given else {})


def public(status: int = 200) -> Row:
    """A page that everybody reads, and that takes nothing."""
    return verbs(ALL_405, GET=by(status))


def page(got: Statuses) -> Row:
    """A page behind the login."""
    return verbs(FOR_PEOPLE_405, GET={**got, **dict.fromkeys(NOBODY, 302)})


def button(got: Statuses) -> Row:
    """What a button behind the login sends."""
    return verbs(FOR_PEOPLE_405, POST={**got, **dict.fromkeys(NOBODY, 302)})


def form(got: Statuses, posted: Statuses) -> Row:
    """A form behind the login, and sending it."""
    nobody = dict.fromkeys(NOBODY, 302)
    return verbs(FOR_PEOPLE_405, GET={**got, **nobody}, POST={**posted, **nobody})


def machine(for_worker: int) -> Row:
    """A call of the worker protocol: by the token alone; a session opens nothing here."""
    return verbs(ALL_405, POST=by(401, worker=for_worker))


OWN = by(404, (TEAM, 200), (ORGANIZERS, 200))
OWN_HIDDEN = by(404, (TEAM, 403), (ORGANIZERS, 403), (SEE_HIDDEN, 200))
CONTEST = "competitions/<slug:slug>/"
MANAGE = CONTEST + "manage/"
SENDERS = (*EDITORS, "foreign")  # who may send datasets
IMPORTS = "competitions/import/"
UPLOADS = "datasets/uploads/"
UPLOAD = UPLOADS + "<int:upload_id>/"  # the owner's own
DATASET = (
    "datasets/<slug:dataset_slug>/"  # the owner's, in phases that have begun; "(blind)" in those that hide it
)
VERSION = DATASET + "versions/<int:number>/"
SUBMISSION = CONTEST + "submissions/<int:submission_id>/"

PAGES: dict[str, Row] = {
    "": public(),
    "favicon.ico": public(301),
    "styleguide/": public(),
    "competitions/": public(),
    CONTEST: public(),
    CONTEST + "phases/": public(),
    CONTEST + "datasets/": public(),
    CONTEST + "datasets/<int:task_id>/download/": page(by(200, (STRANGERS, 403))),
    CONTEST + "datasets/<int:task_id>/download/ (blind)": page(by(404, (SEE_HIDDEN, 200))),
    CONTEST + "evaluation/": public(),
    CONTEST + "rules/": public(),
    CONTEST + "pages/<slug:page_slug>/": public(),
    CONTEST + "join/": button(by(302)),
    CONTEST + "starting-kit/": public(),
    CONTEST + "submissions/": verbs(
        ALL_405, GET=by(200, (NOBODY, 302)), POST=by(400, (NOBODY, 302), (STRANGERS, 403))
    ),
    SUBMISSION: page(OWN),
    SUBMISSION + " (blind)": page(OWN),
    SUBMISSION + "cancel/": button(by(404, (TEAM, 302), (ORGANIZERS, 403), (EDITORS, 302))),
    # What was handed over is not cancelled: organizers disqualify it. The team learns nothing of its state.
    SUBMISSION + "cancel/ (blind)": button(by(404, (TEAM, 403), (ORGANIZERS, 403), (EDITORS, 409))),
    SUBMISSION + "choose/": button(by(404, (TEAM, 409), (ORGANIZERS, 403))),
    SUBMISSION + "choose/ (blind)": button(by(404, (TEAM, 409), (ORGANIZERS, 403))),
    SUBMISSION + "leaderboard/": button(by(404, (TEAM, 409), (ORGANIZERS, 403))),
    SUBMISSION + "leaderboard/ (blind)": button(by(404, (TEAM, 409), (ORGANIZERS, 403))),
    SUBMISSION + "archive/": page(OWN),
    SUBMISSION + "archive/ (blind)": page(OWN_HIDDEN),
    SUBMISSION + "runs/<int:run_id>/log/": page(OWN),
    SUBMISSION + "runs/<int:run_id>/log/ (blind)": page(OWN_HIDDEN),
    SUBMISSION + "runs/<int:run_id>/files/<slug:kind>/": page(by(404, (TEAM, 403), reviewer=403)),
    SUBMISSION + "runs/<int:run_id>/files/<slug:kind>/ (blind)": page(by(404, (TEAM, 403), reviewer=403)),
    CONTEST + "files/<int:file_id>/": page(by(404)),
    CONTEST + "programs/<int:program_id>/": page(by(404)),
    SUBMISSION + "readiness/": page(OWN),
    SUBMISSION + "readiness/ (blind)": page(OWN),
    SUBMISSION + "readiness/ask/": button(by(404, (TEAM, 302), (ORGANIZERS, 403), (EDITORS, 302))),
    SUBMISSION + "readiness/ask/ (blind)": button(by(404, (TEAM, 403), (ORGANIZERS, 403), (EDITORS, 302))),
    SUBMISSION + "readiness/cancel/": button(by(404)),
    SUBMISSION + "readiness/cancel/ (blind)": button(by(404)),
    SUBMISSION + "readiness/log/": page(by(404)),
    SUBMISSION + "readiness/log/ (blind)": page(by(404, (TEAM, 403), reviewer=403)),
    CONTEST + "leaderboard/": public(),
    CONTEST + "leaderboard/history/": public(),
    CONTEST + "leaderboard.csv": public(),
    CONTEST + "leaderboard.json": public(),
    CONTEST + "manage/": page(by(403, (ORGANIZERS, 200))),
    CONTEST + "manage/act/<slug:action>/": form(by(403, (EDITORS, 200)), by(403, (EDITORS, 200))),
    CONTEST + "prizes/<int:number>/": form(by(404), by(404)),
    CONTEST + "published/<int:submission_id>/": verbs(ALL_405, GET=by(404)),
    CONTEST + "published/<int:submission_id>/ (blind)": verbs(ALL_405, GET=by(404)),
}

PAGES |= {
    "datasets/": public(),
    UPLOADS: verbs(
        ALL_405,
        GET=by(403, (SENDERS, 200), (NOBODY, 302)),
        POST=by(403, (SENDERS, 400), (NOBODY, 302)),
    ),
    UPLOADS + "begin/": button(by(403, (SENDERS, 400))),
    UPLOAD: page(by(404, owner=200)),
    UPLOAD + "content/": verbs(
        FOR_PEOPLE_405, GET=by(404, (NOBODY, 302), owner=200), PUT=by(404, (NOBODY, 302), owner=400)
    ),
    UPLOAD + "import/": button(by(404, owner=409)),
    UPLOAD + "remove/": button(by(404, owner=302)),
    UPLOAD + "prepare/": form(by(404, owner=409), by(404, owner=409)),
}

# The studio of the competition itself. Making one is granted by itself, and so is cloning.
PAGES |= {
    "competitions/new/": form(by(403, admin=200), by(403, admin=400)),
    IMPORTS: verbs(ALL_405, GET=by(403, (NOBODY, 302), admin=200), POST=by(403, (NOBODY, 302), admin=400)),
    # Everybody's own alone.
    IMPORTS + "<int:import_id>/": page(by(404)),
    IMPORTS + "<int:import_id>/answer/": button(by(404)),
    IMPORTS + "<int:import_id>/remove/": button(by(404)),
    MANAGE + "export/": form(by(403, (EDITORS, 200)), by(403, owner=409, admin=409)),
    MANAGE + "export/<int:export_id>/": page(by(403, owner=404, admin=404)),
    MANAGE + "export/<int:export_id>/remove/": button(by(403, owner=404, admin=404)),
    MANAGE + "step/<slug:step>/": form(by(403, (EDITORS, 200)), by(403, (EDITORS, 400))),
    MANAGE + "clone/": form(by(403, admin=200), by(403, admin=400)),
    MANAGE + "settings/": form(by(403, (ORGANIZERS, 200)), by(403, (EDITORS, 400))),
    MANAGE + "pages/": page(by(403, (ORGANIZERS, 200))),
    MANAGE + "pages/add/": button(by(403, (EDITORS, 400))),
    MANAGE + "pages/preview/": button(by(403, (EDITORS, 200))),
    MANAGE + "pages/text/<slug:which>/": form(by(403, (EDITORS, 200)), by(403, (EDITORS, 409))),
    MANAGE + "pages/<int:page_id>/": form(by(403, (EDITORS, 200)), by(403, (EDITORS, 400))),
    MANAGE + "pages/<int:page_id>/move/": button(by(403, (EDITORS, 409))),
    MANAGE + "pages/<int:page_id>/remove/": button(by(403, (EDITORS, 200))),
    MANAGE + "pictures/add/": button(by(403, (EDITORS, 400))),
    MANAGE + "pictures/<int:picture_id>/remove/": button(by(403, (EDITORS, 404))),
    CONTEST + "images/<str:name>": public(404),
}

PAGES |= {
    CONTEST + "manage/submissions/": page(by(403, (ORGANIZERS, 200))),
    SUBMISSION + "runs/<int:run_id>/predictions/<int:file_id>/": page(by(404, (TEAM, 403))),
    SUBMISSION + "runs/<int:run_id>/predictions/<int:file_id>/ (blind)": page(by(404, (TEAM, 403), reviewer=403)),
    CONTEST + "manage/submissions/many/": button(by(403, (EDITORS, 404))),
    CONTEST + "manage/submissions/many/<int:work_id>/": form(by(403, (EDITORS, 404)), by(403, (EDITORS, 404))),
    CONTEST + "manage/queue/": page(by(403, (ORGANIZERS, 200))),
}

# Not public: who organizes a contest with them and sees what is hidden, reads them; who owns them, changes them.
READ = verbs(ALL_405, GET=by(404, (SEE_HIDDEN, 200)))
NO_CARD = verbs(ALL_405, GET=by(404))


def change(got: int) -> Row:
    """What a button of the owner and the operator sends."""
    return button(by(404, owner=got, admin=got))


PAGES |= {
    DATASET: READ,
    DATASET + " (blind)": READ,
    DATASET + "versions/": READ,
    DATASET + "versions/ (blind)": READ,
    VERSION + "file/": READ,
    VERSION + "file/ (blind)": READ,
    VERSION + "recipe.json": NO_CARD,
    DATASET + "croissant.json": NO_CARD,
    DATASET + "datasheet.md": NO_CARD,
    DATASET + "edit/": form(by(404, owner=200, admin=200), by(404, owner=400, admin=400)),
    DATASET + "share/": change(400),
    DATASET + "unshare/": button(by(404, (SEE_HIDDEN, 400))),
    DATASET + "publish/": change(302),
    VERSION + "use/": form(by(404, owner=200, admin=200), by(404, owner=400, admin=400)),
    VERSION + "remove/": change(409),
}

# Teams and fact sheets: one's own, and the organizers' sections about all.
SHEETS = CONTEST + "manage/fact-sheet/"
ONE_TEAM = CONTEST + "manage/teams/<int:team_id>/"
PAGES |= {
    CONTEST + "team/": page(by(403, (ENTRANTS, 200))),
    CONTEST + "team/do/<slug:what>/": button(by(403, (ENTRANTS, 404))),
    CONTEST + "team/link/<str:secret>/": form(by(404), by(404)),
    CONTEST + "fact-sheet/": form(
        by(403, (ENTRANTS, 200), (ORGANIZERS, 200)), by(403, (ENTRANTS, 302), (ORGANIZERS, 302))
    ),
    CONTEST + "manage/teams/": page(by(403, (ORGANIZERS, 200))),
    ONE_TEAM: page(by(403, (ORGANIZERS, 200))),
    ONE_TEAM + "rename/": button(by(403, (EDITORS, 400))),
    ONE_TEAM + "remove/": button(by(403, (EDITORS, 404))),
    ONE_TEAM + "dissolve/": button(by(403, (EDITORS, 200))),
    SHEETS: page(by(403, (ORGANIZERS, 200))),
    SHEETS + "add/": form(by(403, (EDITORS, 200)), by(403, (EDITORS, 400))),
    SHEETS + "questions/<int:question_id>/": form(by(403, (EDITORS, 200)), by(403, (EDITORS, 400))),
    SHEETS + "questions/<int:question_id>/move/": button(by(403, (EDITORS, 409))),
    SHEETS + "questions/<int:question_id>/remove/": button(by(403, (EDITORS, 200))),
    SHEETS + "answers/": page(by(403, (ORGANIZERS, 200))),
    SHEETS + "answers.csv": page(by(403, (ORGANIZERS, 200))),
    SHEETS + "answers.json": page(by(403, (ORGANIZERS, 200))),
    SHEETS + "entrants/": page(by(403, (ORGANIZERS, 200))),
    SHEETS + "entrants/<int:entrant_id>/": page(by(403, (ORGANIZERS, 200))),
}

# Participants, organizers, announcements, the audit log.
FOR_ORGANIZERS = page(by(403, (ORGANIZERS, 200)))
PAGES |= {
    CONTEST + "announcements/": public(),
    CONTEST + "announcements/mail/": button(by(403, (ENTRANTS, 302))),
    "mail/stop/<str:token>/": verbs(ALL_405, GET=by(404), POST=by(404)),
    MANAGE + "participants/": FOR_ORGANIZERS,
    MANAGE + "participants.csv": FOR_ORGANIZERS,
    MANAGE + "participants/decide/": button(by(403, (EDITORS, 404))),
    MANAGE + "announcements/": FOR_ORGANIZERS,
    MANAGE + "announcements/new/": form(by(403, (EDITORS, 200)), by(403, (EDITORS, 200))),
    MANAGE + "announcements/<int:announcement_id>/": FOR_ORGANIZERS,
    MANAGE + "announcements/<int:announcement_id>/again/": button(by(403, (EDITORS, 409))),
    MANAGE + "organizers/": FOR_ORGANIZERS,
    MANAGE + "organizers/give/": button(by(403, owner=404, admin=404)),
    MANAGE + "organizers/take/": button(by(403, owner=404, admin=404)),
    MANAGE + "audit/": FOR_ORGANIZERS,
    MANAGE + "audit.csv": FOR_ORGANIZERS,
    MANAGE + "audit.json": FOR_ORGANIZERS,
}

# The rehearsal. There is none in the world, so nothing can be moved on or thrown away.
PAGES |= {
    MANAGE + "rehearsal/": page(by(403, (ORGANIZERS, 200))),
    MANAGE + "rehearsal/start/": button(by(403, (EDITORS, 302))),
    MANAGE + "rehearsal/advance/": button(by(403, (EDITORS, 404))),
    MANAGE + "rehearsal/throw-away/": button(by(403, (EDITORS, 404))),
}

# The section on phases: every organizer reads it, editors change it. Sent empty, most forms say what is missing.
IN_PHASES = CONTEST + "manage/phases/"
BY_EDITORS = by(403, (EDITORS, 200))


def for_editors(posted: int) -> Row:
    """What a button of owners and editors sends."""
    return button(by(403, (EDITORS, posted)))


def filled_in() -> Row:
    """A form of owners and editors that is sent empty."""
    return form(BY_EDITORS, by(403, (EDITORS, 400)))


PAGES |= {
    IN_PHASES: page(by(403, (ORGANIZERS, 200))),
    IN_PHASES + "dates/": for_editors(400),
    IN_PHASES + "zone/": for_editors(302),
    IN_PHASES + "fill/": for_editors(400),
    IN_PHASES + "add/": filled_in(),
    IN_PHASES + "datasets/": filled_in(),
    IN_PHASES + "rounds/add/": filled_in(),
    IN_PHASES + "rounds/<int:round_id>/": filled_in(),
    IN_PHASES + "rounds/<int:round_id>/remove/": for_editors(409),
    IN_PHASES + "<int:phase_id>/": filled_in(),
    IN_PHASES + "<int:phase_id>/datasets/": for_editors(400),
    IN_PHASES + "<int:phase_id>/move/": for_editors(409),  # the last phase stands last already
    IN_PHASES + "<int:phase_id>/remove/": for_editors(409),
}

WORKER: dict[str, Row] = {
    "worker/hello": machine(200),
    "worker/announce": machine(422),
    "worker/next": machine(422),
    "worker/runs/<int:run_id>/claim": machine(409),
    "worker/runs/<int:run_id>/heartbeat": machine(422),
    "worker/runs/<int:run_id>/uploads": machine(422),
    "worker/runs/<int:run_id>/report": machine(422),
    "worker/checks/<int:check_id>/claim": machine(409),
    "worker/checks/<int:check_id>/heartbeat": machine(422),
    "worker/checks/<int:check_id>/rows": machine(422),
    "worker/checks/<int:check_id>/report": machine(422),
    "worker/files/<str:token>": verbs(ALL_405, GET=by(403), HEAD=by(405), PUT=by(403)),
    "worker/": verbs(by(404)),
}

HIDDEN_TO_OTHERS = by(302)  # the admin sends everybody to its login who is no superuser


def admin(got: int, **other: int) -> Row:
    """A page of the admin: what a superuser gets, by verb where it differs; everybody else the login."""
    return {verb: by(302, admin=other.get(verb, got)) for verb in VERBS}


SAFE_ONLY = dict.fromkeys(("POST", "PUT", "PATCH", "DELETE"), 405)

ADMIN: dict[str, Row] = {
    "admin/": admin(200),
    "admin/login/": verbs(ALL_405, GET=by(200, admin=302), HEAD=by(200), POST=by(200), PUT=by(200)),
    "admin/logout/": admin(405, POST=302),
    "admin/password_change/": admin(200, PATCH=405, DELETE=405),
    "admin/password_change/done/": admin(200, **SAFE_ONLY),
    "admin/autocomplete/": admin(403, **SAFE_ONLY),
    "admin/jsi18n/": admin(200, **SAFE_ONLY),
    "admin/r/<path:content_type_id>/<path:object_id>/": admin(404),
    "admin/<app>/": admin(200),
    "admin/<anything else>": admin(404),
    "admin/accounts/user/<id>/password/": admin(200),
}

# Rows that only actions change: the admin shows them.
READ_ONLY = (
    "competitions/auditentry",
    "competitions/deletion",
    "competitions/extension",
    "competitions/heldrole",
    "competitions/prizeclaim",
    "competitions/team",
    "datasets/datasetversion",
    "leaderboards/columnrow",
    "leaderboards/leaderboardrow",
    "submissions/attempt",
    "submissions/builtimage",
    "submissions/handover",
    "submissions/prediction",
    "submissions/predictionscore",
    "submissions/readinesscheck",
    "submissions/readinessrow",
    "submissions/run",
    "submissions/score",
    "submissions/submission",
)
# Made by a command, edited here.
EDITED = ("datasets/dataset", "submissions/worker")
MADE_HERE = (
    "account/emailaddress",
    "accounts/user",
    "auth/group",
    "competitions/competition",
    "competitions/entrant",
    "competitions/participant",
    "competitions/phase",
    "competitions/prize",
    "competitions/round",
)


def admin_rows(model: str, *, has_entry: bool) -> dict[str, Row]:
    """The rows of a model's pages. Without an entry the pages of one lead back to the start (302)."""
    shown = 200 if has_entry else 302
    is_read_only = model in READ_ONLY
    entry = f"admin/{model}/<id>/"
    return {
        f"admin/{model}/": admin(200),
        f"admin/{model}/add/": admin(200 if model in MADE_HERE else 403),
        f"{entry}history/": admin(shown),
        f"{entry}delete/": admin(403 if is_read_only else shown),
        f"{entry}change/": admin(shown, POST=403 if is_read_only else shown),
        entry: admin(302),
    }


def guests_only(status: int = 200) -> Row:
    """A form for people who are not logged in; who is goes on to the site."""
    got = by(302, (NOBODY, status))
    return verbs(got, PATCH=by(302, (NOBODY, 405)), DELETE=by(302, (NOBODY, 405)))


def for_members(posted: int) -> Row:
    """A form about one's own account."""
    got, sent = by(200, (NOBODY, 302)), by(posted, (NOBODY, 302))
    return verbs(FOR_PEOPLE_405, GET=got, POST=sent, PUT=sent)


ELSEWHERE = verbs(by(302))  # a step of something that was not begun leads back
NOTICE = public()

ACCOUNTS: dict[str, Row] = {
    "accounts/login/": guests_only(),
    "accounts/logout/": verbs(ALL_405, GET=by(200, (NOBODY, 302)), POST=by(302)),
    "accounts/inactive/": NOTICE,
    "accounts/signup/": guests_only(),
    "accounts/reauthenticate/": for_members(200),
    "accounts/reauthenticate/code/": ELSEWHERE,
    "accounts/reauthenticate/code/confirm/": ELSEWHERE,
    "accounts/email/": for_members(302),
    "accounts/confirm-email/": NOTICE,
    "accounts/confirm-email/<key>/": verbs(ALL_405, GET=by(200), POST=by(404)),
    "accounts/password/change/": for_members(200),
    "accounts/password/set/": ELSEWHERE,
    "accounts/password/reset/": verbs(ALL_405, GET=by(200), POST=by(200), PUT=by(200)),
    "accounts/password/reset/key/<uid>-<key>/": verbs(by(200)),  # says that the link is not valid
    "accounts/password/reset/key/done/": NOTICE,
    "accounts/password/reset/done/": NOTICE,
    "accounts/login/code/confirm/": ELSEWHERE,
}

# The analyses of a competition: everybody reads what is released; what is in them, the audience decides.
ANALYSIS = CONTEST + "analysis/"
PAGES |= {
    ANALYSIS: public(),
    ANALYSIS + "report/": verbs(ALL_405, GET=by(200), POST=by(302)),
    ANALYSIS + "report.html": public(404),
    ANALYSIS + "<slug:section>/": public(),
    ANALYSIS + "<slug:section>/again/": button(by(404, (ORGANIZERS, 302))),
    ANALYSIS + "<slug:section>/<slug:name>.<slug:suffix>": public(404),
    "vega/<slug:version>.js": public(404),
}

# The basic methods: sent empty, both forms say that no phase is chosen.
PAGES |= {
    MANAGE + "basic-methods/": page(by(403, (EDITORS, 200))),
    MANAGE + "basic-methods/run/": for_editors(400),
    MANAGE + "basic-methods/remove/": for_editors(400),
}

# Benchmarks: sent empty, the form of those who may send says so; others' are unknown.
BENCHMARKS = "analysis/benchmarks/"
BENCHMARK = BENCHMARKS + "<int:benchmark_id>/"
PAGES |= {
    BENCHMARKS: verbs(ALL_405, GET=by(200), POST=by(403, (NOBODY, 302), (SENDERS, 400))),
    BENCHMARK: public(404),
    BENCHMARK + "export.zip": public(404),
    BENCHMARK + "publish/": button(by(404)),
    BENCHMARK + "delete/": button(by(404)),
    BENCHMARK + "<slug:view>/": public(404),
    BENCHMARK + "<slug:view>/<slug:name>.<slug:suffix>": public(404),
}

# Runs beyond the budget: sent empty, both forms say that no phase is chosen.
PAGES |= {
    MANAGE + "run-on/": page(by(403, (EDITORS, 200))),
    MANAGE + "run-on/run/": for_editors(400),
    MANAGE + "run-on/remove/": for_editors(400),
}

# Sets of models: each person sees their own; the definitions of the spaces are everybody's.
SETS = "analysis/spaces/"
PAGES |= {
    "analysis/": public(),
    SETS: page(by(200)),
    SETS + "<slug:name>.<slug:suffix>": page(by(404)),
    SETS + "send/": button(by(400)),
    SETS + "own/<int:population_id>/delete/": button(by(302)),
    SETS + "definitions/": public(),
    SETS + "definitions/sample/": public(404),
    SETS + "definitions/<slug:name>.<slug:suffix>": public(404),
}
