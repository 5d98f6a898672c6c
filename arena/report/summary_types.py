"""The types of a report's contents: what `summarize` returns, and the terminal, HTML, Markdown and JSON output show.

docs/report.md explains them to users. They are plain JSON: dicts, so that a field may be added without a new version.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class WinRate(TypedDict):
    """The mean score over some battles, a tie as half a win, with its 95% Wilson interval."""

    battles: int
    score: float
    low: float
    high: float


class CountedWinRate(WinRate):
    wins: int
    losses: int
    ties: int


class PairingResult(CountedWinRate):
    """A cell of the cross table: one agent against another, over all team sets."""

    agent: str
    opponent: str
    #: The score by the ratings; None where no battles link the two.
    expected: float | None


class TeamSetResult(CountedWinRate):
    """One agent on one team set, against all opponents."""

    agent: str
    team_set: str


class PairingOnTeamSet(TeamSetResult):
    """One agent against another on one team set."""

    opponent: str


class NashShare(TypedDict):
    """An agent's part of the Nash average."""

    #: From the win rates as seen.
    weight: float
    #: Of the weight over the resamples, with its 95% interval.
    mean: float
    low: float
    high: float
    #: Share of the resamples in which the agent has any weight.
    support: float
    #: The equilibrium rating: win rate against the mixture (0.5 for those in it), mean over the resamples, 95% interval.
    rating: float
    rating_low: float
    rating_high: float


class RankingRow(TypedDict):
    """One agent in the ranking of a format."""

    rank: int
    agent: str
    about: str | None
    elo: float
    low: float
    high: float
    #: Why Elo and interval are bounds; empty where they are estimates.
    mark: str
    #: P(best): share of the resamples in which it is rated above all others of its group.
    best: float
    #: Ratings compare within one group only.
    group: int
    games: int
    #: None without a battle that has a score.
    score: float | None
    gxe: float | None
    #: None for all where not all agents are linked by battles.
    nash: NashShare | None
    #: Share of time in alpha-rank; None without OpenSpiel, and where not all agents are linked by battles.
    alpha_rank: float | None
    alpha_rank_low: float | None
    alpha_rank_high: float | None


class BetterMatrix(TypedDict):
    """P(the row is better than the column); None where they cannot be compared."""

    agents: list[str]
    matrix: list[list[float | None]]


class SetDifferenceSummary(TypedDict):
    """How much better an agent is on one team set than on another (arena/ratings/team_sets.py)."""

    agent: str
    better_on: str
    worse_on: str
    elo: float
    low: float
    high: float
    #: It is significant.
    clear: bool
    #: It rests on the prior: the agent has all or no points on one of the sets.
    bound: bool
    sentence: str


class CycleSummary(TypedDict):
    """An intransitive cycle (arena/ratings/cycles.py): each agent beats the next, the last the first."""

    agents: list[str]
    win_rates: list[float]
    games: list[int]
    strength: float
    holds: float
    luck: float
    confidence: float


class FaultExample(TypedDict):
    battle_id: int
    detail: str


class FaultSummary(TypedDict):
    """The battles in which something went wrong, of one agent and kind."""

    #: "venue" and "nobody" where no agent failed.
    agent: str
    kind: str
    #: The agent lost these battles by its own failure.
    at_fault: bool
    battles: int
    example: FaultExample


#: Battles of `from` to `to` turns inclusive; `to` is None in the last bin when it takes all that are longer.
LengthBin = TypedDict("LengthBin", {"from": int, "to": int | None, "battles": int})


class LengthSummary(TypedDict):
    """Battle lengths in turns: mean, quantiles and a histogram."""

    battles: int
    mean: float
    shortest: int
    q05: int
    q25: int
    median: int
    q75: int
    q95: int
    longest: int
    bins: list[LengthBin]


class ThinkTimes(TypedDict):
    """An agent's time per decision, in milliseconds."""

    agent: str
    decisions: int
    median_ms: float
    p95_ms: float
    max_ms: float


class BestAndWorstOpponents(TypedDict):
    best: list[PairingResult]
    worst: list[PairingResult]


class TeamRate(WinRate):
    """An agent's results with one team. species: of its members; empty where Showdown drew the team."""

    team: str
    team_set: str
    team_id: str
    species: list[str]


class BestAndWorstTeams(TypedDict):
    #: Teams that the agent played.
    of: int
    best: list[TeamRate]
    worst: list[TeamRate]
    #: Some interval of the best lies above one of the worst.
    told_apart: bool


class MoveShare(TypedDict):
    """How often an agent chose a move. share: of all its moves."""

    move: str
    times: int
    share: float


class LeadRate(WinRate):
    """An agent's results with one Pokémon as the lead."""

    lead: str


class LeadSummary(TypedDict):
    #: Chosen at team preview; else the team's order decides.
    chosen: bool
    #: Different leads.
    of: int
    #: The most used first.
    leads: list[LeadRate]


class TurnRate(WinRate):
    """An agent's results in the battles that reached a turn."""

    turn: int


class AgentProfile(TypedDict):
    """One agent in one format."""

    agent: str
    opponents: BestAndWorstOpponents
    teams: BestAndWorstTeams
    #: The most used first.
    moves: list[MoveShare]
    #: None where Showdown draws the teams.
    leads: LeadSummary | None
    by_turn: list[TurnRate]
    median_turns: int


class SweepPoint(TypedDict):
    """An agent of a sweep: its value on the axis, and its rating as in the ranking."""

    x: float
    agent: str
    rank: int
    elo: float
    low: float
    high: float
    mark: str


class SweepSeries(TypedDict):
    #: The values of what is not on the axis; empty where nothing else differs.
    label: str
    points: list[SweepPoint]


class SweepSummary(TypedDict):
    """Agents that differ only in numbers (arena/report/sweeps.py)."""

    #: Their spec without these.
    base: str
    #: "checkpoint", or the option that the points are placed by.
    axis: str
    agents: int
    lines: list[SweepSeries]
    sentence: str


class Strengths(TypedDict):
    """What the ratings say about the agents of a format."""

    #: The agent whose rating is 1000.
    anchor: str
    ranking: list[RankingRow]
    better: BetterMatrix
    set_differences: list[SetDifferenceSummary]
    cycles: list[CycleSummary]


class RankedFormat(Strengths):
    """The ranking of a format, or of a table of results."""

    format: str
    battles: int
    #: What `battles` and `games` count: single battles (where it is absent), or series of several.
    unit: NotRequired[Literal["battle", "series"]]


class PairingTables(TypedDict):
    """Who scored how much against whom and on which team set."""

    cross: list[PairingResult]
    team_sets: list[str]
    by_team_set: list[TeamSetResult]
    cross_by_team_set: list[PairingOnTeamSet]


class CrossTables(RankedFormat, PairingTables):
    """A ranking, and the results that it is from."""


class SeriesScore(TypedDict):
    """How often a series ended with these numbers of battles won."""

    won: int
    lost: int
    series: int


class SeriesSummary(TypedDict):
    """The series of two agents, decided and unfinished ones. score: the share of decided ones, a tie as half."""

    agent: str
    opponent: str
    best_of: int
    series: int
    won: int
    lost: int
    tied: int
    unfinished: int
    score: float | None
    #: Of decided series, the best for the agent first.
    scores: list[SeriesScore]
    #: All that are played, and the agent's share of their points.
    battles: int
    battle_score: float | None


class FormatSummary(CrossTables):
    """All about one format."""

    #: Empty where single battles are played.
    series: list[SeriesSummary]
    sweeps: list[SweepSummary]
    faults: list[FaultSummary]
    length: LengthSummary
    think: list[ThinkTimes]
    agents: list[AgentProfile]


class EloLead(TypedDict):
    """A difference of strength with its 95% interval; None where there is no such number, or no bound on that side."""

    value: float | None
    low: float | None
    high: float | None


class SprtSummary(TypedDict):
    """A sequential probability ratio test (docs/sprt.md)."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    model: str
    #: Of elo0 and elo1.
    unit: str
    llr: float
    #: The bounds of llr.
    lower: float
    upper: float
    #: "H0", "H1"; None while neither bound is reached.
    decision: str | None
    verdict: str


class MatchReport(TypedDict):
    """The result of a match (arena/ratings/pentanomial.py). points and score are those of the first agent."""

    agents: list[str]
    pairs: int
    battles: int
    points: float
    score: float | None
    #: Pairs in which the first agent scored 0, 0.5, 1, 1.5, 2.
    pentanomial: list[int]
    #: What a pair has two of, and `battles` counts.
    unit: NotRequired[Literal["battle", "series"]]
    elo: EloLead
    nelo: EloLead
    #: Probability that the first agent is the stronger one.
    los: float | None
    #: It is nearer to 0 or 1 than that.
    los_bound: bool
    draw_ratio: float | None
    pair_ratio: float | None
    sprt: SprtSummary | None


class LadderPoint(TypedDict):
    """A rated battle on other people's servers (table `ladder_ratings`). started: ISO time."""

    battle_id: int
    run: str
    started: str
    elo_before: int
    elo_after: int
    gxe: float | None
    glicko: float | None
    deviation: float | None


class LadderHistory(TypedDict):
    """An agent on a server's ladder, over all runs of the database."""

    agent: str
    server: str
    format: str
    ratings: list[LadderPoint]


class BestResponseSummary(TypedDict):
    """A best response to an agent (table `best_responses`). measured: ISO time.

    same_code: the agent's code and weights are those that played in this run.
    """

    agent: str
    format: str
    team_sets: str
    response: str
    started_as: str
    decisions: int
    seconds: float
    venue: str
    battles: int
    score: float
    low: float
    high: float
    measured: str
    same_code: bool


class PoolSummary(TypedDict):
    """A team set of a run. teams: how many; 0 where Showdown draws them."""

    format: str
    team_set: str
    teams: int


class AgentOfRun(TypedDict):
    """A row of the table `agents`."""

    agent: str
    about: str | None
    fingerprint: str
    repeatable: bool


class EarlierRun(TypedDict):
    """Battles that were reused. run: its id."""

    run: str
    battles: int


class EvidenceSummary(TypedDict):
    """The battles that count for a run."""

    own: int
    #: Among all of them; counted for neither agent.
    aborted: int
    earlier: list[EarlierRun]


class RunSummary(TypedDict):
    """The settings of a run, and what it takes to repeat it."""

    id: str
    database: str
    kind: str
    #: As in the table `runs`, or "killed".
    status: str
    #: ISO times.
    started: str
    ended: str | None
    seconds: float | None
    git: str | None
    versions: dict[str, str]
    #: The command that plays the same battles again.
    command: str
    #: The stored settings as JSON, without the pools.
    config: dict[str, Any]
    pools: list[PoolSummary]
    agents: list[AgentOfRun]
    evidence: EvidenceSummary


class ReportSummary(TypedDict):
    """The whole report. The data of each extension are a further key, its name (see `extension_data` in summary.py)."""

    version: int
    #: ISO time.
    made: str
    run: RunSummary
    findings: list[str]
    notes: list[str]
    #: None for a run that is not a match.
    match: MatchReport | None
    #: Those in which the run has a rated battle.
    ladder: list[LadderHistory]
    #: To the run's agents, by all runs of `train exploit` that are stored in the database.
    exploitability: list[BestResponseSummary]
    formats: list[FormatSummary]
