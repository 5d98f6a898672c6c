"""A stored battle in Showdown's replay format: the log as spectators have it, and the page that Showdown's viewer opens.

The page is the one that Showdown's client writes for "Download replay": the log in a script element of the class
`battle-log-data`, the elements that the viewer fills, and a link to the viewer itself, `replay-embed.js`
(smogon/pokemon-showdown-client, battle-log.ts and replay-embed.js). Below it, the battle in sentences, for reading offline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poke_env.data import to_id_str

from arena.fixture import SEATS
from arena.markup import Html, el, join
from arena.report.narration import narrate
from arena.venues.simulator.reproduction import StoredBattle
from teamsets.errors import BadInput

#: Where the viewer is loaded from when the page is opened.
VIEWER_SITE = "play.pokemonshowdown.com"
_VIEWER = f"https://{VIEWER_SITE}/js/replay-embed.js"
_STYLE = """
body { margin: 0; padding: 12px 0; background: #fff; color: #000; font: 10pt Verdana, sans-serif; }
h1, .narration { max-width: 640px; margin: 1em auto; padding: 0 8px; overflow-wrap: anywhere; }
h1 { font-size: 12pt; font-weight: normal; text-align: center; }
.narration h2 { margin: 1em 0 0.3em; font-size: 11pt; }
.narration p { margin: 0.2em 0; }
"""


def replay_log(battle: StoredBattle) -> list[str]:
    """The battle's protocol lines as a spectator receives them: HP of both sides in percent, agents as the players' names.

    Of a battle on a server of other people, whose other side was not seen, it is what our side received. Raises BadInput for
    a battle without a log.
    """
    logs = [battle.logs[seat] for seat in SEATS if battle.logs[seat]]
    if not logs:
        raise BadInput(
            f"battle {battle.battle_id}: has no log ({battle.reason}), so there is no replay to write: "
            "`detail` in the table `battles` (`arena sql`) says why"
        )
    lines = logs[0] if len(logs) == 1 else spectator_log(*logs)
    return [f"|t:|{battle.started}", *_named(lines, _player_names(battle.agents))]


def spectator_log(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """What both sides' logs have for everyone. first, second: p1's and p2's, without requests.

    Where they differ, a line is about one side, which sees its own HP exactly: the other side's line is the public one.
    A line that only one side has is for that side alone.
    """
    lines: list[str] = []
    n, m = 0, 0
    while n < len(first) and m < len(second):
        mine, theirs = first[n], second[m]
        if _event(mine) == _event(theirs):
            lines.append(theirs if _subject(mine) == SEATS[0] else mine)
            n, m = n + 1, m + 1
        elif _event(theirs) in map(_event, first[n : n + 5]):
            n += 1
        else:
            m += 1
    return [*lines, *first[n:], *second[m:]]


def _event(line: str) -> tuple[str, ...]:
    """What both sides' lines of one event share: all of it, but for what the two may not both know."""
    kind, *arguments = line.split("|")[1:] or [line]
    return (kind, arguments[0]) if _subject(line) else (line,)


def _subject(line: str) -> str:
    """The side that a line is about; empty if it is about none."""
    side = line.split("|")[2][:2] if line.count("|") > 1 else ""
    return side if side in SEATS else ""


def _player_names(agents: dict[str, str]) -> dict[str, str]:
    """What the two sides are called: their specs, told apart where Showdown would take them for one player."""
    names = {seat: agent.replace("|", "/") for seat, agent in agents.items()}
    if len(set(map(to_id_str, names.values()))) < len(names):
        return {seat: f"{name} ({seat})" for seat, name in names.items()}
    return names


def _named(lines: Sequence[str], names: dict[str, str]) -> Iterator[str]:
    """The lines with the agents in the place of the names that the players had in the battle."""
    players: dict[str, str] = {}
    for line in lines:
        kind, *arguments = line.split("|")[1:] or [""]
        if kind == "player" and arguments[1:] and arguments[0] in names and arguments[1]:
            players[arguments[1]] = arguments[0]
            yield "|".join(["", kind, arguments[0], names[arguments[0]], *arguments[2:]])
        elif kind == "win" and arguments[0] in players:
            yield f"|win|{names[players[arguments[0]]]}"
        else:
            yield line


def replay_page(battle: StoredBattle) -> str:
    """The battle as an HTML page. Opening it loads Showdown's viewer from the network. Raises BadInput as `replay_log`."""
    log = replay_log(battle)
    names = _player_names(battle.agents)
    title = f"{battle.format} replay: {names['p1']} vs. {names['p2']}"
    viewer = [el("div", cls=name) for name in ("battle", "battle-log", "replay-controls", "replay-controls-2")]
    # So that no name in it ends the element, or keeps its end from being one.
    data = Html("\n".join(log).replace("/", "\\/").replace("<!--", "<! --"))
    page = [
        Html("<!DOCTYPE html>"),
        el(
            "html",
            _head(title),
            el("body", _viewer(viewer, battle, title, data), _narration(log, battle, names)),
            lang="en",
        ),
    ]
    return join(page) + "\n"


def _head(title: str) -> Html:
    meta = Html('<meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>')
    return el("head", meta, el("title", title), el("style", Html(_STYLE)))


def _viewer(viewer: list[Html], battle: StoredBattle, title: str, data: Html) -> Html:
    return el(
        "div",
        Html(f'<input type="hidden" name="replayid" value="arena-{battle.format}-{battle.battle_id}"/>'),
        viewer,
        el("h1", title),
        el("script", data, type="text/plain", cls="battle-log-data"),
        el("script", src=_VIEWER),
        cls="wrapper replay-wrapper",
        style="max-width:1180px;margin:0 auto",
    )


def _narration(log: Sequence[str], battle: StoredBattle, names: dict[str, str]) -> Html:
    """The battle in sentences, for a page that is read without the network."""
    sentences = [
        el("h2", sentence.strip("= ")) if sentence.startswith("== ") else el("p", sentence)
        for sentence in (line.strip() for line in narrate(log, names))
    ]
    end = el("p", f"({battle.reason}: {battle.detail})") if battle.detail else None
    return el("div", sentences, end, cls="narration")
