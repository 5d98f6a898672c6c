"""`arena replay --html` and `--log`: what is written is what Showdown sends to spectators, and reads as a replay."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said
from support.read_page import Read

from arena.replays.reading import read_replay
from arena.report.showdown_replay import replay_log, replay_page, spectator_log
from arena.store import rows
from arena.venues.simulator.replaying import playable_input_log
from arena.venues.simulator.reproduction import StoredBattle, stored_battle
from teamsets import showdown

Arena = Callable[..., Said]

#: Plays input logs by Showdown's own stream and prints what its spectators receive, a JSON list of lines for each.
_SPECTATORS = """
const BattleStreams = require(process.argv[1] + "/battle-stream");
const logs = JSON.parse(require('fs').readFileSync(0, 'utf-8'));
(async () => {
  for (const log of logs) {
    const streams = BattleStreams.getPlayerStreams(new BattleStreams.BattleStream());
    void streams.omniscient.write(log.join('\\n'));
    void streams.omniscient.writeEnd();
    const lines = [];
    for await (const chunk of streams.spectator) lines.push(...chunk.split('\\n'));
    console.log(JSON.stringify(lines));
  }
})();
"""


def _spectated(battles: list[StoredBattle]) -> list[list[str]]:
    logs = json.dumps([playable_input_log(battle.input_log) for battle in battles])
    command = [showdown.node(), "-e", _SPECTATORS, str(showdown.package() / "dist" / "sim")]
    done = subprocess.run(command, input=logs, capture_output=True, text=True, timeout=120, check=True)
    sent = [json.loads(line) for line in done.stdout.splitlines()]
    return [[line for line in lines if line and not line.startswith(("|t:|", "|inactive"))] for lines in sent]


@pytest.mark.slow
def test_it_is_what_showdown_sends_to_spectators(played: Path) -> None:
    ids = rows(
        "SELECT battle_id FROM battles WHERE format IN ('gen1ou', 'gen9ou') OR reason = 'error' ORDER BY 1", played
    )
    battles = [stored_battle(played, number) for (number,) in ids]
    for battle, lines in zip(battles, _spectated(battles), strict=True):
        ours = spectator_log(battle.logs["p1"], battle.logs["p2"])
        assert [line for line in ours if line] == lines, battle.battle_id
    assert re.search(r"\|[1-9]\d?/100\b", "\n".join(ours))  # not every Pokémon is at full health


def test_a_line_for_one_side_alone_is_left_out() -> None:
    both = ["|switch|p1a: A|A|100/100", "|switch|p2a: B|B|100/100", "|turn|1"]
    first = ["|switch|p1a: A|A|300/300", "|-ability|p1a: A|Pressure|[silent]", *both[1:]]
    second = [both[0], "|switch|p2a: B|B|250/250", "|-candynamax|p2", "|turn|1"]
    assert spectator_log(first, second) == both


def test_the_page_holds_the_log_which_the_arena_reads_as_a_replay(arena: Arena, played: Path, tmp_path: Path) -> None:
    query = "SELECT battle_id, p1, p2, winner, turns FROM battles WHERE format = 'gen9ou' AND reason = 'win' LIMIT 1"
    ((battle, p1, p2, winner, turns),) = rows(query, played)
    page, log = tmp_path / "battle.html", tmp_path / "battle.log"
    said = arena("replay", battle, "--html", page, "--log", log, "--db", played)
    assert (said.code, said.out) == (0, "")
    assert "opening it loads the viewer from play.pokemonshowdown.com" in said.err
    for path in (page, log):
        read = read_replay(path)
        assert (read.players, read.winner, read.format_id) == ((p1, p2), winner, "gen9ou")
        assert f"|turn|{turns}" in read.lines
        assert read.date is not None
    text = page.read_text("utf-8")
    assert text.count('src="https://play.pokemonshowdown.com/js/replay-embed.js"') == 1
    for part in ("battle", "battle-log", "replay-controls", "replay-controls-2"):
        assert f'<div class="{part}"></div>' in text


def test_no_name_breaks_the_page(played: Path) -> None:
    stored = stored_battle(played, 1)
    evil = {"p1": "</script><script>alert(1)</script><!--<script>", "p2": "a|b"}
    page = replay_page(StoredBattle(**{**vars(stored), "agents": evil}))
    read = Read(page)
    assert "|player|p2|a\\/b|" in read.scripts["code"] and "|win|" in read.scripts["code"]
    assert page.count("</script>") == 2 and "<!--" not in page
    assert "|player|p2|a/b|" in replay_log(StoredBattle(**{**vars(stored), "agents": evil}))[3]


def test_two_agents_of_one_name_are_told_apart(played: Path) -> None:
    stored = stored_battle(played, 1)
    log = replay_log(StoredBattle(**{**vars(stored), "agents": {"p1": "random", "p2": "random"}}))
    assert {line for line in log if line.startswith("|player|")} == {
        "|player|p1|random (p1)||",
        "|player|p2|random (p2)||",
    }
    assert log[-1] in ("|win|random (p1)", "|win|random (p2)", "|tie")


@pytest.mark.parametrize("option", ["--html", "--log"])
def test_a_battle_without_a_log_is_refused_in_one_line(arena: Arena, played: Path, option: str, tmp_path: Path) -> None:
    stored = stored_battle(played, 1)
    empty = StoredBattle(**{**vars(stored), "logs": {"p1": [], "p2": []}})
    with pytest.raises(Exception, match="battle 1: has no log"):
        replay_page(empty) if option == "--html" else replay_log(empty)
    missing = arena("replay", 1, option, tmp_path / "none" / "file", "--db", played)
    assert missing.code == 2 and missing.err.endswith("give a file in a writable folder\n")
