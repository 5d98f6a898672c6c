"""The quick simulator against Showdown's own code: equal battles, and differences found."""

from __future__ import annotations

import pytest
from support.scripts import script

#: Any move, ability and item of a generation, on any Pokémon; and teams that people would play.
FORMATS = [f"gen{gen}hackmonscup" for gen in (1, 7, 8, 9)] + [
    "gen2randombattle",
    "gen4randombattle",
    "gen9challengecup6v6",
    "gen9doubleshackmonscup",
    "gen6doublesou",
]
OPTIONS = {"battles": 6, "seed": 11, "turns": 60, "formats": FORMATS}


@pytest.mark.slow
def test_random_battles_with_any_move_and_ability_are_equal() -> None:
    stock, found, unrepeatable = script("parity/simulator_parity.py").differing(OPTIONS)
    assert (found, unrepeatable) == ([], [])
    assert [(format_id, number) for format_id in FORMATS for number in range(6)] == list(stock)
    assert sum(line["turns"] for line in stock.values()) > 1000


def test_a_difference_is_found_and_a_format_that_differs_from_itself_proves_nothing(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    parity = script("parity/simulator_parity.py")
    plays = iter(range(100))

    def play(options: dict[str, object], stock: bool) -> dict[tuple[str, int], dict[str, object]]:
        now = next(plays)
        battles = {(name, number): {"turns": 5, "hash": "same"} for name in "abc" for number in range(2)}
        battles["a", 1]["hash"] = f"quick or not: {stock}"
        battles["b", 0]["hash"] = f"never the same: {now}"
        return battles

    monkeypatch.setattr(parity, "play", play)
    monkeypatch.setattr("sys.argv", ["simulator_parity.py", "--seed", "7"])
    with pytest.raises(SystemExit) as ended:
        parity.main()
    assert ended.value.code == 1
    assert capsys.readouterr().out.splitlines() == [
        "b: not even two plays on Showdown's own code are equal",
        "a, battle 1 (--seed 8 --battles 1): not equal",
        "4 battles of 2 formats: 1 differ (30 turns; 0 battles ended by an error of Showdown's own)",
    ]
