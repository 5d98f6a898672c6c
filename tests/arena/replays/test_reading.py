"""Reading replays: the three kinds of files, and what cannot be used."""

from __future__ import annotations

import html
import json
from collections import Counter
from pathlib import Path

import pytest
from support.made_logs import made

from arena.replays.lines import Line
from arena.replays.reading import (
    UnusableReplay,
    counted,
    day,
    public_battle,
    read_folder,
    read_replay,
    replay_files,
)
from arena.replays.reconstruction import reconstruct
from teamsets.errors import BadInput, UnknownFormat

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


@pytest.mark.parametrize("attributes", ['class="log" id="replaylog-gen1ou-9"', "id='x' class='log wide'", "CLASS=log"])
def test_a_page_of_the_site_is_read_like_its_log(tmp_path: Path, attributes: str) -> None:
    page = tmp_path / "gen1ou-7.html"
    page.write_text(f'<script class="app">var log = 1;</script><script type="text/plain" {attributes}>\n{LOG}</script>')
    assert read_replay(page) == public_battle(LOG, "gen1ou-7")
    page.write_text(page.read_text().replace(attributes, 'data-class="log" class="blog"'))
    with pytest.raises(UnusableReplay, match="page without"):
        read_replay(page)


def test_of_a_room_s_log_the_public_lines_are_read() -> None:
    public = ["|switch|p1a: A|Tauros|100/100", "|switch|p2a: B|Starmie|100/100"]
    for seat, line in zip(("p1", "p2"), public, strict=True):
        private = line.replace("100/100", "353/353")
        assert public_battle(LOG.replace(line, f"|split|{seat}\n{private}\n{line}"), "gen1ou-7").lines == tuple(
            LOG.split("\n")
        )
        old = "\n".join(["|split", line, private, line, private])
        assert public_battle(LOG.replace(line, old), "gen1ou-7").lines == tuple(LOG.split("\n"))
    silent = LOG.replace("|turn|1", "|split|p1\n|-ability|p1a: A|Pressure|[silent]\n\n|turn|1")
    assert public_battle(silent, "gen1ou-7").lines == tuple(LOG.split("\n"))
    for broken in (silent.replace("[silent]\n\n", "[silent]\n"), LOG.replace("|win|Ann", "|win|Ann\n|split|p1")):
        with pytest.raises(UnusableReplay, match="lines missing behind"):
            public_battle(broken, "gen1ou-7")


@pytest.mark.parametrize(
    ("renamed", "winner", "seat"),
    [
        ("|player|p1|Anna|1|", "Anna", "p1"),
        ("|player|p2|Bobby|2|", "BOBBY", "p2"),
        ("|player|p1|Anna|1|\n|player|p1|Anne|1|", "Anna", "p1"),
        ("|player|p1|Eve|1|\n|player|p2|Ann|2|", "Ann", "p2"),
        ("|player|p2|", "Bob", "p2"),
    ],
)
def test_who_won_under_another_name(renamed: str, winner: str, seat: str) -> None:
    battle = public_battle(
        LOG.replace("|turn|1", f"|turn|1\n{renamed}").replace("|win|Ann", f"|win|{winner}"), "gen1ou-7"
    )
    assert (battle.winner, battle.players) == (seat, ("Ann", "Bob"))


@pytest.mark.parametrize(("tier", "format_id"), [("[Gen 1] OU (beta)", "gen1ou"), ("[Gen 4] UU (beta)", "gen4uu")])
def test_the_names_that_formats_had_until_2014(tier: str, format_id: str) -> None:
    log = LOG.replace("[Gen 1] OU", tier)
    assert public_battle(log, "seven").format_id == format_id
    assert public_battle(log, "seven", format_name=f"{format_id}beta").format_id == format_id


def test_formats_that_showdown_does_not_have_are_counted_as_such() -> None:
    refused: Counter[str] = Counter()
    with counted(refused, "a.log"):
        raise UnknownFormat("format 'gen1oo': Showdown has no such format")
    assert refused == {"unknown format": 1}


def test_hits_may_be_counted_behind_the_end() -> None:
    assert public_battle(f"{LOG}\n|-hitcount|p2a: B|2", "gen1ou-7").winner == "p1"
    with pytest.raises(UnusableReplay, match="behind its end"):
        public_battle(f"{LOG}\n|move|p2a: B|Surf|p1a: A", "gen1ou-7")


def test_illusion_s_end_needs_no_health() -> None:
    ended = LOG.replace("|turn|1", "|turn|1\n|\n|replace|p1a: A|Zoroark, M\n|-end|p1a: A|Illusion")
    with pytest.raises(UnusableReplay, match="Illusion"):
        reconstruct(public_battle(ended, "gen1ou-7"))


@pytest.mark.parametrize(
    ("message", "end"),
    [
        ("Bob forfeited.", "forfeit"),
        ("Bob forfeited by changing their name.", "forfeit"),
        ("Bob lost by having an inappropriate name.", "forfeit"),
        ("Bob lost due to inactivity.", "timeout"),
        ("Bob lost because of their inactivity.", "timeout"),
        ("hm", "win"),
    ],
)
def test_how_it_ended(message: str, end: str) -> None:
    assert made("|turn|1", end=f"|-message|{message}\n|win|Ann").end == end
    assert made("|turn|1", end="|tie").end == "tie"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (LOG.replace("|win|Ann", ""), "truncated"),
        (LOG.replace("singles", "doubles"), "neither singles nor doubles"),
        (LOG.replace("|tier|[Gen 1] OU", "|tier|[Gen 1] Doubles OU"), "doubles before generation 9"),
        (
            LOG.replace("|tier|[Gen 1] OU", "|tier|[Gen 9] Doubles OU").replace("singles", "doubles"),
            "doubles without open team sheets",
        ),
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


def test_a_line_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    line = Line.read("|move|[from] move: Round")
    assert (line.kind, line.arguments, line.source) == ("move", (), "move: Round")
    moved_forward = Line.read("|move|p1a: Al|Round|p2a: Star|[from] move: Round")
    assert (moved_forward.move, moved_forward.source) == ("round", "")
