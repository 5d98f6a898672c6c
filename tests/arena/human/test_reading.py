"""Reading replays: the three kinds of files, and what cannot be used."""

from __future__ import annotations

import html
import json
from collections import Counter
from pathlib import Path

import pytest
from support.made_logs import made

from arena.human.reading import UnusableReplay, day, public_battle, read_folder, read_replay, replay_files
from teamsets.errors import BadInput

LOG = "\n".join(made("|switch|p1a: A|Tauros|100/100\n|switch|p2a: B|Starmie|100/100\n|turn|1", gen=1).lines)


def test_the_three_kinds_of_files_tell_the_same(tmp_path: Path) -> None:
    (tmp_path / "gen1ou-7.log").write_text(LOG)
    page = f'<script type="text/plain" class="battle-log-data">{html.escape(LOG).replace("/", chr(92) + "/")}</script>'
    (tmp_path / "gen1ou-7.html").write_text(page)
    replay = {"id": "gen1ou-7", "format": "[Gen 1] OU", "log": LOG, "uploadtime": 5}
    (tmp_path / "gen1ou-7.json").write_text(json.dumps(replay))
    refused: Counter[str] = Counter()
    one, two, three = (read_replay(path) for path in replay_files(tmp_path))
    assert len(list(read_folder(tmp_path, None, refused))) == 1  # it is one battle
    assert refused.pop("the same battle as in another file") == 2
    assert one == two == three
    assert not refused
    assert (one.id, one.format_id, one.gen) == ("gen1ou-7", "gen1ou", 1)
    assert (one.players, one.ratings, one.date) == (("Ann", "Bob"), (1500, 1600), 1700000000.0)
    assert (one.winner, one.end, one.result("p1"), one.result("p2")) == ("p1", "win", 1.0, 0.0)


@pytest.mark.parametrize(
    ("message", "end"), [("Bob forfeited.", "forfeit"), ("Bob lost due to inactivity.", "timeout"), ("hm", "win")]
)
def test_how_it_ended(message: str, end: str) -> None:
    assert made("|turn|1", end=f"|-message|{message}\n|win|Ann").end == end
    assert made("|turn|1", end="|tie").end == "tie"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (LOG.replace("|win|Ann", ""), "truncated"),
        (LOG.replace("singles", "doubles"), "not singles"),
        (LOG.replace("|tier|[Gen 1] OU", "|tier|[Gen 1] Doubles OU"), "not singles"),
        (LOG.replace("|tier|[Gen 1] OU", "|tier|?"), "unknown format"),
        (LOG.replace("|start", ""), "no battle"),
        (LOG.replace("|player|p2|Bob|2|1600", ""), "players"),
        (LOG.replace("|win|Ann", "|win|Eve"), "neither"),
        ("", "unknown format"),
    ],
)
def test_what_cannot_be_used_has_a_reason(log: str, reason: str) -> None:
    with pytest.raises(UnusableReplay, match=reason):
        public_battle(log, "seven")


@pytest.mark.parametrize(
    ("name", "text"), [("a.json", "{"), ("a.json", '{"log": 1}'), ("a.html", "<p>"), ("a.log", "x")]
)
def test_broken_files_are_unusable(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UnusableReplay):
        read_replay(tmp_path / name)


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(BadInput):
            list(read_folder(folder, None, Counter()))
    with pytest.raises(BadInput):
        day("yesterday")
    assert day("1970-01-02") == 86400
