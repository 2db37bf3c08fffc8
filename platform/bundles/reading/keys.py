"""The keys that bundles may use, and those that are known without having an effect here.

After bundles.md of the project's design, sections 1 and 2; checked against the documents of Codabench.
"""

_NOT_IMPORTED = "is not part of a bundle's import; set it on the site."

# Version 2 (Codabench)
TOP_2 = (
    "version",
    "title",
    "image",
    "terms",
    "pages",
    "description",
    "registration_auto_approve",
    "docker_image",
    "enable_detailed_results",
    "show_detailed_results_in_submission_panel",
    "show_detailed_results_in_leaderboard",
    "make_programs_available",
    "make_input_data_available",
    "auto_run_submissions",
    "can_participants_make_submissions_public",
    "competition_type",
    "fact_sheet",
    "reward",
    "contact_email",
    "forum_enabled",
    "queue",
    "tasks",
    "solutions",
    "phases",
    "leaderboards",
)
TOP_2_IGNORED = {
    name: f"{name} {_NOT_IMPORTED}"
    for name in (
        "collaborators",
        "published",
        "allow_robot_submissions",
        "whitelist",
        "whitelist_emails",
        "report",
    )
}
TASK_2 = (
    "index",
    "key",
    "name",
    "description",
    "scoring_program",
    "ingestion_program",
    "input_data",
    "reference_data",
    "ingestion_only_during_scoring",
)
# What Codabench writes into its own dumps, or its documents show, and nobody reads.
TASK_2_IGNORED = {"is_public": "", "created_by": "", "created_when": "", "solutions": "", "id": ""}
SOLUTION_2 = ("index", "tasks", "path", "key", "name", "description")
SOLUTION_2_IGNORED = {"is_public": "", "md5": "", "id": ""}
PHASE_2 = (
    "index",
    "name",
    "description",
    "start",
    "end",
    "tasks",
    "max_submissions_per_day",
    "max_submissions",
    "execution_time_limit",
    "auto_migrate_to_this_phase",
    "hide_output",
    "hide_prediction_output",
    "hide_score_output",
    "public_data",
    "starting_kit",
)
PHASE_2_IGNORED = {
    "solutions": "",
    "status": "",
    "is_final_phase": "",
    "has_max_submissions": "",
    "accepts_only_result_submissions": "",
}
BOARD_2 = ("index", "title", "key", "submission_rule", "hidden", "primary_index", "columns")
COLUMN_2 = (
    "title",
    "key",
    "index",
    "sorting",
    "computation",
    "computation_indexes",
    "hidden",
    "precision",
)
FACT_2 = ("key", "type", "title", "selection", "is_required", "is_on_leaderboard")
PAGE_2 = ("title", "file")
PAGE_2_IGNORED = {"index": ""}

# Version 1.5 (CodaLab)
TOP_1 = (
    "version",
    "title",
    "description",
    "image",
    "has_registration",
    "start_date",
    "end_date",
    "competition_docker_image",
    "force_submission_to_leaderboard",
    "disallow_leaderboard_modifying",
    "enable_detailed_results",
    "allow_teams",
    "enable_teams",
    "allow_public_submissions",
    "anonymous_leaderboard",
    "reward",
    "upper_bound_max_submission_size",
    "html",
    "phases",
    "leaderboard",
    "admin_names",
    "require_team_approval",
    "allow_organizer_teams",
    "enable_per_submission_metadata",
    "hide_top_three",
    "hide_chart",
    "url_redirect",
)
TOP_1_IGNORED = {
    "enable_forum": "",
    "show_datasets_from_yaml": "",
    "enable_medical_image_viewer": "",
    "published": f"published {_NOT_IMPORTED}",
    "creator": "",
    "pagecontainer": "",
}
PHASE_1 = (
    "phasenumber",
    "label",
    "description",
    "start_date",
    "color",
    "max_submissions",
    "max_submissions_per_day",
    "is_scoring_only",
    "execution_time_limit",
    "scoring_program",
    "reference_data",
    "input_data",
    "ingestion_program",
    "public_data",
    "starting_kit",
    "auto_migration",
    "leaderboard_management_mode",
    "force_best_submission_to_leaderboard",
    "hidden_columns",
    "datasets",
    "phase_never_ends",
    "max_submission_size",
    "participant_max_storage_use",
    "delete_submissions_except_best_and_last",
    "scoring_program_docker_image",
    "default_docker_image",
    "ingestion_program_docker_image",
    "disable_custom_docker_image",
    "ingestion_program_only_during_scoring",
    "is_parallel_parent",
    "parent_phasenumber",
)
PHASE_1_IGNORED = {"id": "", "is_migrated": ""}
LEADERBOARD_1 = ("leaderboards", "column_groups", "columns")
BOARD_1 = ("label", "rank")
GROUP_1 = ("label",)
GROUP_1_IGNORED = {"rank": ""}
COLUMN_1 = (
    "label",
    "leaderboard",
    "column_group",
    "rank",
    "sort",
    "numeric_format",
    "selection_default",
    "computed",
)
COLUMN_1_IGNORED = {"show_rank": "", "sorting": "", "ordering": ""}
COMPUTED_1 = ("operation", "fields", "weights")
DATASET_1 = ("name", "url", "description")
DATASET_1_IGNORED = {"key": "", "type": ""}
