"""The findings of a report: a few sentences that state what is significant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from arena.report.numbers import counted, group_letter, listed, percent, percent_of, plural, whole
from arena.report.series import battles_by_agent
from arena.report.summary_types import EloLead, FormatSummary, MatchReport, RankedFormat, RankingRow

SURE = 0.95  # "better" is said without "may" from here on
TEAM_SET_LINES = 2
NAMED_TOGETHER = 5  # at most so many agents that are not separated are named
MANY_FORMATS = 3  # more formats than these share one sentence on who is best


def findings(formats: list[FormatSummary]) -> list[str]:
    """Returns sentences on the best agent, differences between team sets, cycles, and faults; one if there is no battle."""
    ranked = [each for each in formats if len(each["ranking"]) > 1]
    if not ranked:
        return ["No battle was finished."]
    best = [_best(each) for each in ranked] if len(ranked) <= MANY_FORMATS else [_best_of_many(ranked)]
    apart = [
        f"{each['format']}: {sentence}" if len(ranked) > 1 else sentence for each in ranked for sentence in order(each)
    ]
    return [
        *best,
        *(apart if len(ranked) <= MANY_FORMATS else []),
        *_team_sets(ranked),
        *_cycles(ranked),
        *(sentence for each in ranked for sentence in other_orders(each)),
        *(sweep["sentence"] for each in ranked for sweep in each["sweeps"]),
        _faults(formats),
    ]


def standings(ranked: RankedFormat) -> list[str]:
    """Returns sentences on the best agent, certain ranks and cycles; of a table of results, of which no more is known."""
    return [_best(ranked), *order(ranked), *_cycles([ranked])]


def match_findings(match: MatchReport | None) -> list[str]:
    """Returns the result of a match in sentences. match: of `match_of`."""
    if match is None or not match["pairs"]:
        return []
    first, second = match["agents"]
    result = (
        f"{first} scores {percent_of(match['score'])}% against {second} in {counted(match['pairs'], 'pair')} "
        f"({counted(match['battles'], match.get('unit', 'battle'))}): Elo {describe_lead(match['elo'])}."
    )
    return [result] if match["sprt"] is None else [f"{match['sprt']['verdict']}.", result]


def match_facts(match: MatchReport) -> list[list[str]]:
    """Return (label, value) for each number of a match with one or more pairs, as text."""
    first = match["agents"][0]
    facts = [
        [f"pairs ({plural(match.get('unit', 'battle'))})", f"{match['pairs']:,} ({match['battles']:,})"],
        [f"score of {first}", f"{match['points']:g} points, {100 * (match['score'] or 0.0):.1f}%"],
        [
            "pentanomial: pairs in which it scored 0, 0.5, 1, 1.5, 2",
            ", ".join(f"{n:,}" for n in match["pentanomial"]),
        ],
        ["Elo, 95% interval", describe_lead(match["elo"])],
        ["normalized Elo, 95% interval", describe_lead(match["nelo"])],
        ["P(stronger)", percent(match["los"] or 0.0)],
    ]
    test = match["sprt"]
    if test is not None:
        hypotheses = f"H0: lead ≤ {test['elo0']:g}, H1: lead ≥ {test['elo1']:g} {test['unit']}"
        facts += [
            ["LLR (bounds)", f"{test['llr']:.2f} ({test['lower']:.2f}, {test['upper']:.2f})"],
            ["test", f"{hypotheses}; alpha {test['alpha']:g}, beta {test['beta']:g}"],
            ["decision", test["verdict"]],
        ]
    return facts


def describe_lead(lead: EloLead) -> str:
    """ "+75 [37, 113]"; "more than +120" where there is no upper end, "less than −120" where there is no lower one."""
    value, low, high = lead["value"], lead["low"], lead["high"]
    if low is not None and high is not None:
        return f"{whole(value or 0.0, signed=True)} [{whole(low)}, {whole(high)}]"
    bound = f"more than {whole(low, signed=True)}" if low is not None else ""
    bound = f"less than {whole(high, signed=True)}" if high is not None else bound or "unknown"
    return bound if value is None else f"{whole(value, signed=True)} ({bound})"


def describe_elo(row: RankingRow, anchor: str) -> str:
    """ "1580 [1540, 1622]"."""
    if row["agent"] == anchor:
        return f"{whole(row['elo'])}, the anchor"
    return f"{whole(row['elo'])} [{whole(row['low'])}, {whole(row['high'])}]"


def chance_of_better(format_summary: RankedFormat, agent: str, other: str) -> float | None:
    """Probability that `agent` is better than `other`; None when they cannot be compared."""
    names = format_summary["better"]["agents"]
    value: float | None = format_summary["better"]["matrix"][names.index(agent)][names.index(other)]
    return value


def order(format_summary: RankedFormat) -> list[str]:
    """Return sentences on which ranks are certain: P(better than next), and how many pairs of agents are separated.

    Two neighbours are separated when the one is better than the other with a probability of SURE or more. Of two agents
    alone `_best` says it all.
    """
    rows = format_summary["ranking"]
    if len(rows) < 3:
        return []
    chances = [chance_of_better(format_summary, one["agent"], other["agent"]) for one, other in pairwise(rows)]
    runs: list[list[RankingRow]] = [[rows[0]]]
    for chance, row in zip(chances, rows[1:], strict=True):
        if chance is not None and chance < SURE:
            runs[-1].append(row)
        else:
            runs.append([row])
    open_runs = [run for run in runs if len(run) > 1]
    if not open_runs:
        return [f"Every rank is separated from the next: P(better than next) is at least {percent(SURE)} everywhere."]
    parts = [_ranks(run) for run in open_runs]
    known = [
        v
        for i, line in enumerate(format_summary["better"]["matrix"])
        for j, v in enumerate(line)
        if j > i and v is not None
    ]
    clear = sum(max(value, 1 - value) >= SURE for value in known)
    return [
        f"Not separated, P(better than next) below {percent(SURE)}: {'; '.join(parts)}.",
        f"{clear:,} of {counted(len(known), 'pair')} of agents are ordered with a probability of {percent(SURE)} or more.",
    ]


def _ranks(run: list[RankingRow]) -> str:
    """ "ranks 2–4 (b, c, d)", without the names where they are many."""
    names = f" ({', '.join(row['agent'] for row in run)})" if len(run) <= NAMED_TOGETHER else ""
    return f"ranks {run[0]['rank']}–{run[-1]['rank']}{names}"


def _close(format_summary: RankedFormat) -> tuple[RankingRow, list[tuple[str, float]]]:
    """Return the leader, and the agents not separated from it: (agent, P(leader is better)), the closest first."""
    first = format_summary["ranking"][0]
    chances = [
        (row["agent"], chance_of_better(format_summary, first["agent"], row["agent"]))
        for row in format_summary["ranking"][1:]
    ]
    close = [(agent, chance) for agent, chance in chances if chance is not None and chance < SURE]
    return first, sorted(close, key=lambda pair: pair[1])


def _best(format_summary: RankedFormat) -> str:
    first, close = _close(format_summary)
    name, where, elo = first["agent"], _where(format_summary, first), describe_elo(first, format_summary["anchor"])
    if not close:
        second = next((row for row in format_summary["ranking"][1:] if row["group"] == first["group"]), None)
        if second is None:
            return f"{name} is first in {where}, but no battle links it to the others."
        chance = chance_of_better(format_summary, name, second["agent"])
        return (
            f"{name} is best in {where}: {elo}, {first['elo'] - second['elo']:.0f} above "
            f"{second['agent']}; P(better) {equals(chance)}, P(best) {equals(first['best'])}."
        )
    if len(close) == 1:
        ((other, chance),) = close
        return (
            f"{name} leads in {where} with {elo}, P(best) {equals(first['best'])}, but {other} may be as good: "
            f"P(better) {equals(chance)}."
        )
    (other, chance), *_ = close
    return (
        f"{name} leads in {where} with {elo}, P(best) {equals(first['best'])}, but {len(close)} others may be as good; "
        f"the closest is {other}: P(better) {equals(chance)}."
    )


def _where(format_summary: RankedFormat, first: RankingRow) -> str:
    """ "gen1ou"; "group A of gen1ou" where some agents cannot be compared with the first."""
    apart = any(row["group"] != first["group"] for row in format_summary["ranking"])
    return f"group {group_letter(first['group'])} of {format_summary['format']}" if apart else format_summary["format"]


def leader_phrase(format_summary: FormatSummary) -> str:
    """ "is best" where that is certain, else "leads"."""
    first, close = _close(format_summary)
    lone = not any(row["group"] == first["group"] for row in format_summary["ranking"][1:])
    return "is first, but no battle links it to the others" if lone else "leads" if close else "is best"


def equals(chance: float | None) -> str:
    """A probability behind a name: "= 71%", "> 99%"."""
    words = percent(chance or 0.0)
    return words if words[0] in "<>" else f"= {words}"


def _best_of_many(formats: list[FormatSummary]) -> str:
    """Return one sentence for many formats: the leaders, and which of them are certain."""
    where: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for format_summary in formats:
        first, close = _close(format_summary)
        where[first["agent"], not close].append(format_summary["format"])
    parts = [
        f"{agent} {'is best' if sure else 'leads, not significantly,'} in {listed(names)}"
        for (agent, sure), names in sorted(where.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    return "; ".join(parts) + "."


def _team_sets(formats: list[FormatSummary]) -> list[str]:
    """Return the largest significant differences between team sets, and the number of comparisons."""
    differences = [
        (each, format_summary["format"]) for format_summary in formats for each in format_summary["set_differences"]
    ]
    if not differences:
        return []
    clear = sorted((pair for pair in differences if pair[0]["clear"]), key=lambda pair: -pair[0]["elo"])
    if not clear:
        return [
            f"Team sets: no agent is significantly better on one than on another ({len(differences)} differences tested)."
        ]
    lines = [f"{each['sentence']}{_in(format_id, formats)}." for each, format_id in clear[:TEAM_SET_LINES]]
    more = len(clear) - len(lines)
    if more:
        lines.append(f"{more} more of {len(differences)} differences between team sets are significant.")
    return lines


def _cycles(formats: Sequence[RankedFormat]) -> list[str]:
    """The most significant cycle of all formats, or the sentence that there is none."""
    found = [(cycle, format_summary["format"]) for format_summary in formats for cycle in format_summary["cycles"]]
    sure = [pair for pair in found if pair[0]["confidence"] >= SURE]
    if all(len(format_summary["ranking"]) < 3 for format_summary in formats):
        return []
    if not sure:
        return ["No significant intransitive cycles (a beats b, b beats c, c beats a)."]
    cycle, format_id = max(sure, key=lambda pair: pair[0]["confidence"])
    a, b, c = cycle["agents"]
    return [
        f"A significant intransitive cycle{_in(format_id, formats)}: {a} beats {b}, {b} beats {c}, and {c} beats {a} "
        f"(confidence {percent(cycle['confidence'])})."
    ]


def other_orders(ranked: RankedFormat) -> list[str]:
    """Returns sentences where the first by Elo is not the first by the equilibrium rating or by alpha-rank, and why."""
    rows = [row for row in ranked["ranking"] if row["games"] and row["nash"] is not None]
    if len(rows) < 3:
        return []
    first, name, sentences = rows[0], ranked["format"], []
    even = max(rows, key=lambda row: row["nash"]["rating"] if row["nash"] else 0.0)
    if first["nash"] and even["nash"] and first["nash"]["rating_high"] < even["nash"]["rating_low"]:
        sentences.append(
            f"{name}: {first['agent']} is first by Elo, and {even['agent']} by the equilibrium rating: the former wins more "
            "against the pool as it is, and less against the mixture that no agent beats."
        )
    evolved = max(rows, key=lambda row: row["alpha_rank"] or 0.0)
    if evolved["alpha_rank"] is not None and evolved is not first and evolved["alpha_rank"] >= SURE:
        sentences.append(
            f"{name}: {first['agent']} is first by Elo, and {evolved['agent']} by alpha-rank: a population that copies what "
            f"wins spends {percent_of(evolved['alpha_rank'])}% of the time with it. It beats what beats others, however "
            "narrowly."
        )
    return sentences


def _faults(formats: list[FormatSummary]) -> str:
    """Return a sentence on agents that lost battles by a fault."""
    lost: dict[str, int] = defaultdict(int)
    for format_summary in formats:
        for fault in format_summary["faults"]:
            if fault["at_fault"]:
                lost[fault["agent"]] += fault["battles"]
    if not lost:
        return "No agent lost a battle by a failure of its own (crash, time-out, illegal choice)."
    games: dict[str, int] = defaultdict(int)
    for format_summary in formats:
        for agent, battles in battles_by_agent(format_summary).items():
            games[agent] += battles
    order = sorted(lost, key=lambda agent: (-lost[agent], agent))
    parts = [f"{agent} {lost[agent]:,} of {counted(games[agent], 'battle')}" for agent in order[:3]]
    more = f", and {len(order) - 3} more agents some" if len(order) > 3 else ""
    return f"Lost by an own failure: {', '.join(parts)}{more}."


def _in(format_id: str, formats: Sequence[RankedFormat]) -> str:
    return f" in {format_id}" if len(formats) > 1 else ""
