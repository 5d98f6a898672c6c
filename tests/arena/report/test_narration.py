"""A battle in words: nearly every line of real battles has a sentence of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.record import unpacked
from arena.report.narration import narrate
from arena.store import rows

NAMES = {"p1": "Red", "p2": "Blue"}
FORMATS = ["gen1ou", "gen9ou", "gen1randombattle", "gen9randombattle"]
DOUBLES = ["gen9randomdoublesbattle", "gen9championsvgc2026regma"]


@pytest.fixture(params=[*FORMATS, *(pytest.param(name, marks=pytest.mark.slow) for name in DOUBLES)])
def sentences(request: pytest.FixtureRequest) -> list[str]:
    """The sentences about the battles of a format."""
    db: Path = request.getfixturevalue("played_doubles" if request.param in DOUBLES else "played")
    logs = rows("SELECT p1_log FROM battles WHERE format = ?", db, [request.param])
    return [sentence for (log,) in logs for sentence in narrate(unpacked(log), NAMES)]


def test_more_than_99_of_100_lines_have_a_sentence_of_their_own(sentences: list[str]) -> None:
    as_they_stand = [sentence for sentence in sentences if sentence.startswith("  (")]
    assert len(sentences) > 100
    assert len(as_they_stand) / len(sentences) < 0.01, as_they_stand


def test_no_sentence_shows_the_protocol(sentences: list[str]) -> None:
    for sentence in sentences:
        assert not any(text in sentence for text in ("|", "[from]", "p1a", "p1b", "p2a", "p2b"))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("|turn|3", "\n== Turn 3 =="),
        ("|switch|p1a: Tauros|Tauros, L68|279/353 par", "  Red sends out Tauros, 279/353 HP, paralysed."),
        ("|move|p1a: Tauros|Body Slam|p2a: Lapras", "  Tauros (Red) uses Body Slam at Lapras (Blue)."),
        (
            "|move|p1a: Tauros|Body Slam|p2a: Lapras|[miss]",
            "  Tauros (Red) uses Body Slam at Lapras (Blue).",
        ),
        ("|-miss|p1a: Tauros|p2a: Lapras", "  Tauros (Red) misses."),
        ("|-start|p1a: Mew|quarkdrivespe", "  Mew (Red): Quark Drive (Speed) begins."),
        (
            "|-start|p1a: Mew|Disable|Surf|[from] ability: Cursed Body",
            "  Mew (Red): Disable of Surf begins by Cursed Body.",
        ),
        ("|-start|p1a: Mew|Dynamax|", "  Mew (Red): Dynamax begins."),
        ("|-start|p1a: Mew|Dynamax|Gmax", "  Mew (Red): Dynamax (Gigantamax) begins."),
        ("|-start|p1a: Mew|typechange|Bug|[from] ability: Libero", "  Mew (Red) changes its type to Bug by Libero."),
        ("|-weather|none", "  The weather clears up."),
        ("|-damage|p2a: Lapras|0 fnt", "  Lapras (Blue) is hurt: 0 HP."),
        ("|-damage|p2a: Lapras|67/100 psn|[from] psn", "  Lapras (Blue) is hurt by poison: 67 %, poisoned."),
        ("|-boost|p1a: Mew|spe|2", "  Mew (Red)'s Speed rises by 2."),
        ("|-unboost|p1a: Mew|atk|0", "  Mew (Red)'s Attack cannot go any lower."),
        ("|cant|p1a: Mew|slp", "  Mew (Red) sleeps."),
        ("|faint|p2a: Lapras", "  Lapras (Blue) faints."),
        ("|win|p2", "\nBlue wins."),
        ("|tie", "\nA tie."),
        ("|-newthing|p1a: Mew|what", "  (newthing: p1a: Mew what)"),
        ("|-damage|p2a: Lapras", "  (damage: p2a: Lapras)"),
    ],
)
def test_a_line_and_its_sentence(line: str, sentence: str) -> None:
    assert list(narrate([line], NAMES)) == [sentence]


def test_a_move_with_several_targets_names_each_with_its_own_result() -> None:
    lines = [
        "|move|p1a: Volcanion|Blizzard|p2a: Incineroar|[spread] p2a",
        "|-miss|p1a: Volcanion|p2b: Chansey",
        "|-resisted|p2a: Incineroar",
        "|-crit|p2a: Incineroar",
        "|-damage|p2a: Incineroar|50/100",
        "|move|p1a: Volcanion|Surf|p2a: Incineroar|[spread] p1b,p2a,p2b",
        "|-supereffective|p2a: Incineroar",
        "|move|p2b: Chansey|Ice Beam|p1b: Garchomp",
        "|-supereffective|p1b: Garchomp",
        "|move|p1a: Volcanion|Blizzard|p2a: Incineroar|[spread] ",
        "|-miss|p1a: Volcanion|p2a: Incineroar",
        "|",
        "|-end|p2b: Chansey|move: Future Sight",
        "|-resisted|p2b: Chansey",
    ]
    assert [sentence.strip() for sentence in narrate(lines, NAMES)] == [
        "Volcanion (Red) uses Blizzard at several targets.",
        "Volcanion (Red) misses Chansey (Blue).",
        "It is not very effective on Incineroar (Blue).",
        "A critical hit on Incineroar (Blue)!",
        "Incineroar (Blue) is hurt: 50 %.",
        "Volcanion (Red) uses Surf at several targets.",
        "It is super effective on Incineroar (Blue).",
        "Chansey (Blue) uses Ice Beam at Garchomp (Red).",
        "It is super effective.",
        "Volcanion (Red) uses Blizzard at several targets.",
        "Volcanion (Red) misses Incineroar (Blue).",
        "Chansey (Blue): Future Sight ends.",
        "It is not very effective.",
    ]


@pytest.mark.parametrize("line", ["", "|", "|t:|123", "|upkeep", "|request|{}", "|-heal|p1a: Mew|5/9|[silent]"])
def test_lines_that_say_nothing_are_left_out(line: str) -> None:
    assert list(narrate([line], NAMES)) == []
