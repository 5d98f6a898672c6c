import json
import subprocess

import pytest
from support.team_samples import BAD, GOOD

from teamsets import showdown
from teamsets.errors import ArenaError, BadTeam, MissingTool, UnknownFormat
from teamsets.validator import SCRIPT, TeamValidator


def test_a_legal_team_comes_back_packed(validator: TeamValidator) -> None:
    check = validator.validate("gen1ou", GOOD)
    assert check.problems == ()
    assert [member.split("|")[0] for member in check.packed.split("]")] == ["Starmie", "Tauros"]


def test_a_refusal_is_in_showdowns_words(validator: TeamValidator) -> None:
    check = validator.validate("gen1ou", BAD)
    assert check.packed == ""
    assert check.problems == ("Starmie can't learn Spore.",)


def test_before_generation_3_no_evs_means_full_evs(validator: TeamValidator) -> None:
    spread = validator.validate("gen1ou", GOOD).packed.split("|")[6]
    assert spread == "252,252,252,252,252,252"


def test_nicknames_make_no_other_team(validator: TeamValidator) -> None:
    named = GOOD.replace("Starmie\n", "Sea | Star (Starmie)\n")
    assert validator.validate("gen1ou", named) == validator.validate("gen1ou", GOOD)


@pytest.mark.parametrize(
    "first",
    ["(O_O) (Starmie)", "Bob (M) (Starmie)", "me @ home (Starmie) @ No Item", "me @ home (Starmie)", "Sea(Starmie)",
     "¯\\_(ツ)_/¯ (Starmie) ", "Tauros (Starmie)", "a (b) (Starmie)", "=3 (Starmie)", "(Starmie) (Starmie)"],
)  # fmt: skip
def test_first_lines_are_read_from_their_end(first: str, validator: TeamValidator) -> None:
    named = GOOD.replace("Starmie\n", f"{first}\n")
    assert validator.validate("gen1ou", named) == validator.validate("gen1ou", GOOD)


def test_item_and_gender_behind_any_nickname(validator: TeamValidator) -> None:
    lines = "\nAbility: Overgrow\nEVs: 252 HP\nCalm Nature\n- Giga Drain\n"
    plain = validator.validate("gen9ou", f"Meowscarada (F) @ Leftovers{lines}")
    assert plain.packed.split("|")[1:3] == ["", "Leftovers"] and "|F|" in plain.packed
    for first in ("x (M) (Meowscarada) (F) @ Leftovers", "@ @ @ (Meowscarada) (F) @ Leftovers"):
        assert validator.validate("gen9ou", f"{first}{lines}") == plain
    assert "nobody" in str(validator.validate("gen9ou", f"x (Nobody) @ Leftovers{lines}").problems)


def test_hidden_power_gets_the_ivs_it_needs(validator: TeamValidator) -> None:
    text = "Zapdos @ Leftovers\nAbility: Pressure\nEVs: 252 SpA\nTimid Nature\n- Hidden Power [Ice]\n- Thunderbolt\n"
    packed = validator.validate("gen3ou", text).packed
    assert packed.split("|")[8] == ",30,30,,,"


@pytest.mark.parametrize("text", ["", "\n\n", "Starmie|", "[1"])
def test_what_is_no_team_is_refused(validator: TeamValidator, text: str) -> None:
    check = validator.validate("gen1ou", text)
    assert check.packed == ""
    assert check.problems


@pytest.mark.parametrize("newline", ["\r\n", "  \n"])
def test_line_ends_do_not_matter(validator: TeamValidator, newline: str) -> None:
    assert validator.validate("gen1ou", GOOD.replace("\n", newline)) == validator.validate("gen1ou", GOOD)


def test_export_and_packed_are_the_same_team(validator: TeamValidator) -> None:
    packed = validator.validate("gen1ou", GOOD).packed
    assert validator.validate("gen1ou", packed).packed == packed
    assert validator.validate("gen1ou", validator.export(packed)).packed == packed
    with pytest.raises(BadTeam, match="not a packed team"):
        validator.export("nothing")


def test_an_unknown_format_names_its_neighbours(validator: TeamValidator) -> None:
    with pytest.raises(UnknownFormat, match=r"'gen1oo': Showdown has no such format: did you mean .*gen1ou"):
        validator.validate("gen1oo", GOOD)


def test_more_than_two_slots_are_refused_here_too(validator: TeamValidator) -> None:
    with pytest.raises(UnknownFormat, match="only singles and doubles are played here, not triples"):
        validator.validate("gen9triples", GOOD)


def test_species_facts_follow_the_generation(validator: TeamValidator) -> None:
    first = validator.species(1, ["Gengar", "Corviknight"])
    assert first.keys() == {"Gengar"}
    assert first["Gengar"]["takes"]["Ground"] == 2
    assert "Fairy" not in first["Gengar"]["takes"]
    assert validator.species(3, ["Gengar"])["Gengar"]["ability"] == "Levitate"


def test_the_child_ends_when_its_stdin_ends() -> None:
    """As it does when its parent is killed: the only hold on it is the pipe."""
    child = subprocess.Popen([showdown.node(), str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = child.communicate(json.dumps({"op": "export", "packed": ""}).encode() + b"\n", timeout=60)
    assert json.loads(out)["error"] == "not a packed team"
    assert child.returncode == 0


def test_a_dead_child_is_said() -> None:
    with TeamValidator() as validator:
        validator._node.kill()
        validator._node.wait()
        with pytest.raises(ArenaError, match=r"validator\.mjs\) ended"):
            validator.validate("gen1ou", GOOD)


def test_the_functions_can_be_imported() -> None:
    """The battle host imports them: importing must neither read stdin nor write."""
    program = (
        f"import {{validateTeam}} from '{SCRIPT.as_uri()}'; console.log(validateTeam('gen1ou', 'Mew').problems.length)"
    )
    command = [showdown.node(), "--input-type=module", "--eval", program]
    done = subprocess.run(command, stdin=subprocess.PIPE, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0


def test_a_missing_package_says_how_to_get_it(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_SHOWDOWN", str(tmp_path))
    showdown.package.cache_clear()
    try:
        with pytest.raises(MissingTool, match="run `arena setup`"):
            TeamValidator()
    finally:
        showdown.package.cache_clear()
