"""`--set`, shipped configurations by name, and the commands that take them. Nothing here needs torch."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from teamsets.errors import BadInput
from training.cli import cli
from training.experiments.curriculum.config import Curriculum
from training.offline.config import Config
from training.runs.config_reader import BadConfig, load
from training.runs.settings import changed, differences, in_text, other_settings, parsed
from training.runs.shipped import names, resolve_path, text


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def test_a_value_is_read_as_yaml_and_ends_in_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text(text("tiny", "preset"))
    words = ("optimizer.learning_rate=1e-4", "data.train.0.policy_from=won", "data.train.0.weight=3",
             "reference.checkpoint=", "data.validate_on=[a, b]")  # fmt: skip
    config = load(Config, tmp_path / "my.yaml", [parsed(word) for word in words])
    assert (config.optimizer.learning_rate, config.data.train[0].policy_from) == (1e-4, "won")
    assert (config.data.train[0].weight, config.data.validate_on, config.reference.checkpoint) == (3, ["a", "b"], "")
    curriculum = load(Curriculum, resolve_path("gen1ou-cpu", "curriculum"), [parsed("stages.0.battles=12")])
    assert curriculum.stages[0].battles == 12


def test_what_differs_from_an_earlier_start_is_named_with_both_values() -> None:
    before = {
        "name": "a",
        "seed": 1,
        "stages": [{"b": 1}],
        "formats": ["x"],
        "deep": {"free": 1, "not": {"c": 1, "d": 2}},
    }
    now = {"name": "b", "seed": 2, "stages": [{"b": 3}, {"b": 4}], "formats": ["x", "y"],
           "deep": {"free": 2, "not": {"c": 1}}, "new": None}  # fmt: skip
    found = differences(before, now, ("name", "deep.free"))
    assert [str(each) for each in found] == [
        "deep.not.d 2, now null",
        "formats [x], now [x, y]",
        "seed 1, now 2",
        "stages.0.b 1, now 3",
        "stages.1 null, now {b: 4}",
    ]
    assert other_settings(found[2:4]) == "was started with other settings (seed 1, now 2; stages.0.b 1, now 3)"
    assert differences(before, before) == []
    assert [each.key for each in differences({"deeper": 1}, {"deeper": 2}, ("deep",))] == ["deeper"]
    (long,) = differences({"a": "x" * 500}, {"a": 1})
    assert len(str(long)) < 100


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("optimizer.learning_rate", "must be KEY=VALUE"),
        ("optimizer.learnin_rate=1", "has no such key: did you mean optimizer.learning_rate"),
        ("lerning_rate=1", "did you mean optimizer.learning_rate"),
        ("seed.x=1", "--set seed.x: .* has no such key"),
        ("data.train.7.weight=1", "has no such key"),
        ("optimizer.learning_rate=fast", "learning_rate: .*valid number.*, not 'fast'"),
        ("data=[", "is not valid YAML"),
    ],
)
def test_a_wrong_change_is_one_line_that_names_it(word: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text(text("tiny", "preset"))
    with pytest.raises(BadInput, match=words) as error:
        load(Config, tmp_path / "my.yaml", [parsed(word)])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", names("preset"))
def test_a_printed_preset_has_the_changes_and_all_comments(name: str) -> None:
    changes = [parsed(word) for word in ("data.train=[{path: x, weight: 2}]", "seed=7", "data.validate_on=[]")]
    printed = in_text(text(name, "preset"), changes)
    assert yaml.safe_load(printed) == changed(yaml.safe_load(text(name, "preset")), changes, name)
    assert printed.count("#") == text(name, "preset").count("#")
    said = run("config", name, "--set", "seed=7")
    assert said.exit_code == 0 and yaml.safe_load(said.output)["seed"] == 7


@pytest.mark.parametrize("name", [name for name in names("preset") if name != "finetune"])
def test_a_preset_validates_on_what_the_build_holds_out(name: str) -> None:
    config = load(Config, resolve_path(name, "preset"))
    assert config.data.validate_on == [config.data.train[0].path + "-held-out"]


def test_shipped_configurations_are_found_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = resolve_path("gen1ou-cpu", "curriculum")
    assert shipped.is_file() and capsys.readouterr().err == ""
    refused = r"gen1ou-cpv: .*did you mean gen1ou-cpu\? shipped are gen1ou-cpu, gen1ou-story, gen9ou-cpu, qabra"
    with pytest.raises(BadConfig, match=refused):
        resolve_path("gen1ou-cpv", "curriculum")
    Path("gen1ou-cpu").write_text("mine")
    assert resolve_path("gen1ou-cpu", "curriculum") == Path("gen1ou-cpu"), "a file here wins"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("config", "exptert_iteration"),
            "no shipped preset of that name: did you mean expert_iteration? shipped are dpo, ",
        ),
        (("config", "ppo2"), "no shipped preset of that name: did you mean ppo? shipped are dpo, "),
        (("config", "cloning"), "ddqn, expert_iteration, exploit, iac, maac, magrpo, ppo, llm-dpo"),
        (("online", "cloning"), "no shipped configuration of online training of that name: shipped are ddqn, "),
        (
            ("online", "run"),
            "run: is a folder: give run/config.yaml, or the name of a shipped configuration of online ",
        ),
        (
            ("online", "empty"),
            "empty: is a folder: give a YAML file, or the name of a shipped configuration of online ",
        ),
        (
            ("online", "x" * 300),
            ": File name too long: give a YAML file, or the name of a shipped configuration of online ",
        ),
        (("dpo", "cloning"), "cloning: no such file, and no shipped preset of that name: shipped are dpo."),
    ],
)
def test_a_wrong_name_of_a_configuration_lists_those_that_the_command_takes(
    words: tuple[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("run").mkdir()
    Path("run/config.yaml").touch()
    with pytest.raises(BadConfig) as refused:
        cli(words, standalone_mode=False)
    assert message in f"{refused.value}."


def test_a_curriculum_that_has_not_begun_says_how_to_start_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("curriculum", "status", "gen1ou-cpu")
    assert (said.exit_code, said.output) == (0, "gen1ou-cpu: not started: run `train curriculum run gen1ou-cpu`\n")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadInput, match="not started: run `train curriculum run gen1ou-cpu`"):
        cli.main(["curriculum", "report", "gen1ou-cpu"], standalone_mode=False)
    with pytest.raises(BadInput, match=r"arena.duckdb: no such file; name a curriculum"):
        cli.main(["curriculum", "status"], standalone_mode=False)
