"""The picture of the rooms: docs/architecture.svg is that of the imports as they are now."""

from __future__ import annotations

import re
import subprocess
import sys

import grimp
import pytest
from support.command_line import PROJECT
from support.scripts import script

SCRIPT = PROJECT / "scripts/build/architecture_picture.py"
architecture = script("build/architecture_picture.py")
layered = script("build/layered_picture.py")


@pytest.mark.slow
def test_the_picture_is_that_of_the_imports() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_list_has_the_imports_between_rooms() -> None:
    said = subprocess.run([sys.executable, SCRIPT, "--list"], capture_output=True, text=True, check=True).stdout
    (runner,) = re.findall(r"^arena\.workers\n((?:    .*\n)+)", said, re.MULTILINE)
    assert re.search(r"arena\.venues +[1-9]", runner)


def graph(**imports: list[str]) -> grimp.ImportGraph:
    """Modules, by their names with two underscores for a dot, and what each imports."""
    made = grimp.ImportGraph()
    for package in architecture.PACKAGES:
        made.add_module(package)
    for name, imported in imports.items():
        for other in imported:
            made.add_import(importer=name.replace("__", "."), imported=other, line_number=1, line_contents="")
    return made


def test_modules_of_a_package_are_grouped_by_who_uses_them() -> None:
    svg, _ = architecture.picture(
        graph(
            arena__store__rows=["arena.record"],
            arena__report__page=["arena.evidence"],
            arena__evidence=["arena.store.rows"],
            arena__api=["arena.report.page", "agents"],
        )
    )
    assert set(re.findall(r'data-from="([^"]+)" data-to="([^"]+)"', svg)) == {
        ("arena: top", "arena.report"),
        ("arena: top", "agents: top"),
        ("arena.report", "arena: middle"),
        ("arena: middle", "arena.store"),
        ("arena.store", "arena: base"),
    }


def test_only_a_new_room_or_arrow_changes_the_picture() -> None:
    imports = graph(arena__store__rows=["arena.report.page"], arena__report__page=["agents"])
    before = architecture.picture(imports)
    for other in ("arena.report.page", "agents"):  # the second follows
        imports.add_import(importer="arena.store.more", imported=other, line_number=1, line_contents="")
    assert architecture.picture(imports) == before
    imports.add_import(importer="arena.report.page", imported="arena.store.rows", line_number=2, line_contents="")
    svg, cycles = architecture.picture(imports)
    assert svg != before[0]
    assert cycles == [("arena.report", "arena.store"), ("arena.store", "arena.report")]
    assert svg.count('class="arrow cycle"') == 2


def test_arrows_that_follow_from_others_are_left_out() -> None:
    assert layered.without_implied([("a", "b"), ("a", "c"), ("b", "c")]) == [("a", "b"), ("b", "c")]
    ring = layered.Graph(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    assert layered.cyclic(ring) == [("a", "b"), ("b", "c"), ("c", "a")]
    assert sorted(layered.downward(ring)) == [("a", "b"), ("b", "c"), ("c", "d")]


@pytest.mark.parametrize("number", [3, 6])
def test_boxes_do_not_overlap(number: int) -> None:
    names = [f"{level}{place}" for level in "abc" for place in range(number)]
    edges = [(f"a{i}", f"b{(i * 2) % number}") for i in range(number)] + [(f"a{i}", f"c{i}") for i in range(number)]
    edges += [(f"b{i}", f"c{(i + 1) % number}") for i in range(number)]
    svg, _ = layered.drawn(layered.Graph(names, sorted(edges)), [layered.Band("all", [], names)])
    boxes = [
        tuple(map(int, found))
        for found in re.findall(r'class="box" x="(-?\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', svg)
    ]
    assert len(boxes) == 3 * number
    for place, (x, y, width, height) in enumerate(boxes):
        assert not [other for other in boxes[:place] if abs(other[0] - x) < width and abs(other[1] - y) < height]
