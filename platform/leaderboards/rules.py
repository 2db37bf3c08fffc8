"""The rules of a phase's board in sentences, for pages and exports."""

from competitions.models import Phase
from leaderboards.entries import board_part

COUNTS = {
    Phase.Counts.LATEST: "The latest submission of an entrant counts, even if it is worse or failed.",
    Phase.Counts.BEST: "The best submission of an entrant counts: that of the smallest mean rank among the "
    "entrant's own on the {part} part, of equal ones that of the higher mean score, then the earlier.",
    Phase.Counts.CHOSEN: "The submission that the entrant chose counts, else the latest.",
}
TIES = {
    Phase.TieRule.EARLIER: "Of entries with equal mean ranks the one received earlier leads; one that was handed "
    "over keeps the time of the original.",
    Phase.TieRule.SHARED: "Entries with equal mean ranks share a place, and as many places after it stay empty.",
}


def sentences(phase: Phase) -> list[str]:
    """How the board of a phase is made."""
    told = [
        "Entrants are ranked on each dataset (dense ranks of the shown scores; a missing score is one behind the "
        "worst), and the board is ordered by the mean of these ranks ⟨R⟩. In the mean score ⟨S⟩ a missing score "
        "counts 0."
    ]
    if phase.takes_submissions:
        told.append(COUNTS[Phase.Counts(phase.counts)].format(part=Phase.Part(board_part(phase)).label))
    else:
        told.append("The submission that was handed over from the parent phase counts.")
    if phase.repeats > 1:
        told.append(f"Each dataset is run {phase.repeats} times with fresh seeds; the lower median counts.")
    told.append(TIES[Phase.TieRule(phase.tie_rule)])
    told.append(
        "Baselines take places."
        if phase.ranks_baselines
        else "Baselines, organizers and entrants without their fact sheet stand where they would be and take no "
        "place; a score of theirs between ranks 1 and 2 counts 1.5."
    )
    return told


def as_data(phase: Phase) -> dict[str, object]:
    """The same as an export gives it."""
    return {
        "counts": phase.counts,
        "ties": phase.tie_rule,
        "ranks": "dense",
        "missing": "worst + 1",
        "missing_in_mean_score": 0,
        "digits": phase.score_digits,
        "repeats": phase.repeats,
        "ranks_baselines": phase.ranks_baselines,
        "convention": phase.convention,
        "sentences": sentences(phase),
    }
