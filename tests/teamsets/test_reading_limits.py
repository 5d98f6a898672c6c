"""Files of users, within limits: what is hostile is refused with a reason, quickly, whatever it holds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from teamsets import reading
from teamsets.reading import MAX_JSON_VALUES, UnusableText, is_no_file, parse_json, parse_yaml, read_text


@pytest.mark.parametrize(
    "text", ["", "a: 1", "- 1\n- [2, 3.5, null, true]", "base: &b {x: 1}\nother: {<<: *b, y: *b}", "d: 2024-03-31"]
)
def test_ordinary_yaml_is_read_as_safe_load_reads_it(text: str) -> None:
    assert parse_yaml(text) == yaml.safe_load(text)


def _bomb(levels: int, line: str) -> str:
    lines = ["a0: &a0 {x: 1}"]
    lines += [line.format(n=n, m=n - 1) for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(_bomb(40, "a{n}: &a{n} [*a{m}, *a{m}, *a{m}, *a{m}]"), "once its aliases are expanded", id="bomb"),
        pytest.param(_bomb(40, "a{n}: &a{n} {{<<: [*a{m}, *a{m}]}}"), "once its aliases are expanded", id="merges"),
        pytest.param(_bomb(60, "a{n}: &a{n} [*a{m}]"), "levels deep once its aliases", id="deep by aliases"),
        pytest.param("a: &a [*a]", "refers to itself", id="circle"),
        pytest.param("a: &a {<<: *a}", "refers to itself", id="circle of merges"),
        pytest.param("[" * 100_000, "nested more than 50 levels", id="deep"),
        pytest.param("".join(f"{' ' * n}a:\n" for n in range(1000)), "nested more than 50 levels", id="deep block"),
        pytest.param("[" + "1," * 100_000 + "]", "more than 50,000 values", id="many"),
        pytest.param("a: " + "1" * 100_000, "a value of more than 65,536 characters", id="long value"),
        pytest.param("a: " + "1" * 5_000, "a value cannot be read", id="long number"),
        pytest.param("# " + "x" * 2_000_000, "larger than 1 MB", id="large"),
        pytest.param("d: 2024-99-99", "a value cannot be read: month must be", id="no day"),
        pytest.param("b: !!bool maybe", "a value cannot be read", id="no bool"),
        pytest.param("b: !!timestamp x", "a value cannot be read", id="no time"),
        pytest.param("b: !!python/object/apply:os.system [ls]", "could not determine a constructor", id="python"),
        pytest.param("{[a]: 1}", "unhashable key", id="unhashable"),
        pytest.param("a: b: c", "is not valid YAML", id="broken"),
        pytest.param("a: \x01", "is not valid YAML", id="control character"),
    ],
)
def test_hostile_yaml_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(UnusableText, match=reason) as caught:
        parse_yaml(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "NaN", "[1,]", "", '"\\ud800"', "nul"])
def test_hostile_json_is_refused(text: str) -> None:
    with pytest.raises(UnusableText, match=r"^not JSON: "):
        parse_json(text)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x" * 1001, "larger than"),
        (b"a\0b", "NUL bytes"),
        (b"\xff\xfea\0", "NUL bytes"),
        (b"\xff\xfe", "not UTF-8"),
        (b"\xed\xa0\x80", "not UTF-8"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(UnusableText, match=reason):
        read_text(tmp_path / "a.txt", 1000)


def test_text_is_read_without_its_mark_and_with_plain_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n\xc3\xa9")
    assert read_text(tmp_path / "a.txt") == "a\nb\nc\né"


def test_an_endless_file_is_not_read_to_its_end() -> None:
    with pytest.raises(UnusableText, match="larger than 1 MB"):
        read_text(Path("/dev/zero"), reading.MAX_YAML_BYTES)


def test_json_of_millions_of_empty_lists_is_refused_before_it_is_built() -> None:
    """12 MB that would take 300 MB; a file of metamon was once 1 MB, compressed, and took 8 GB."""
    text = "[" + "[]," * MAX_JSON_VALUES + "[]]"
    for content in (text, text.encode()):
        with pytest.raises(UnusableText, match="contains more than 4,000,000 values"):
            parse_json(content)
    assert parse_json("[" + "[]," * 1000 + "[]]") == [[]] * 1001


@pytest.mark.parametrize(
    ("make", "words"), [(os.mkfifo, "is a named pipe"), (os.mkdir, "is a folder"), (Path.touch, "")]
)
def test_what_is_no_file_is_named(tmp_path: Path, make: Callable[[Path], object], words: str) -> None:
    assert is_no_file(tmp_path / "there") == ""
    make(tmp_path / "there")
    assert is_no_file(tmp_path / "there") == words
    assert is_no_file(tmp_path / ("x" * 300)) == "File name too long"
