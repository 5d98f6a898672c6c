"""Draw docs/architecture.svg from the imports of the code: a box for each room, an arrow for what it imports.

A room is a sub-package (`arena.store`), or the modules that lie directly in a package, in up to three groups: those that no
sub-package uses (`top`), those that use sub-packages and are used by some (`middle`), and those that use none (`base`).
Every arrow points down, to what is imported. An arrow that follows from others is left out: where A imports B and B imports
C, A may import C as well. Rooms that import each other, directly or through others, are joined by red arrows. Imports under
`if TYPE_CHECKING:` do not count: they never run.

    python scripts/build/architecture_picture.py            # write the picture, print the cycles
    python scripts/build/architecture_picture.py --list     # print every import between rooms, with the number of lines
    python scripts/build/architecture_picture.py --check    # exit code 1 if the picture is not that of the code
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import grimp
from layered_picture import Band, Graph, drawn, reachable

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "architecture.svg"
#: The packages, from that which imports all others down to that which imports none.
PACKAGES = {
    "training": ["how a player gets better:", "data, learning, curricula,", "ablations"],
    "arena": ["the tournament: schedules,", "battles, the store, ratings,", "reports"],
    "agents": ["who plays: rules, search,", "networks, other programs"],
    "teamsets": ["teams, formats, the simulator's", "installation, errors"],
}
COMMAND = "python scripts/build/architecture_picture.py"


def import_graph(root: Path) -> grimp.ImportGraph:
    """The first-party modules of a checkout and their imports, also those inside functions."""
    sys.path.insert(0, str(root))
    try:
        return grimp.build_graph(*PACKAGES, cache_dir=None, exclude_type_checking_imports=True)
    finally:
        sys.path.remove(str(root))


def rooms_of_modules(imports: Mapping[str, list[str]]) -> dict[str, str]:
    """Module -> its room."""
    packages = {name.rpartition(".")[0] for name in imports}
    inside = {
        name: ".".join(parts[:2])
        for name in imports
        if len(parts := name.split(".")) > 2 or (len(parts) == 2 and name in packages)
    }
    graph = {name: set(rooms) for name, rooms in imports.items()}
    used = {other for name in inside for other in reachable(name, graph) if _package(other) == _package(name)}
    rooms = dict(inside)
    for name in sorted(imports.keys() - inside.keys()):
        uses = any(other in inside and _package(other) == _package(name) for other in reachable(name, graph))
        rooms[name] = f"{_package(name)}: {'top' if name not in used else 'middle' if uses else 'base'}"
    return rooms


def _package(name: str) -> str:
    return name.split(".")[0].split(":")[0]


def count_imports(imports: grimp.ImportGraph) -> tuple[Counter[tuple[str, str]], dict[str, str]]:
    """(room, imported room) -> the number of import lines, and module -> room."""
    direct = {name: sorted(imports.find_modules_directly_imported_by(name)) for name in imports.modules}
    rooms = rooms_of_modules(direct)
    lines: Counter[tuple[str, str]] = Counter()
    for name, imported in direct.items():
        for other in imported:
            if rooms[name] != rooms[other]:
                details = imports.get_import_details(importer=name, imported=other)
                lines[rooms[name], rooms[other]] += len({detail["line_number"] for detail in details})
    return lines, rooms


def picture(imports: grimp.ImportGraph) -> tuple[str, list[tuple[str, str]]]:
    """The SVG, and the arrows that are part of a cycle."""
    lines, rooms = count_imports(imports)
    graph = Graph(sorted(set(rooms.values())), sorted(lines))
    bands = [
        Band(package, text, [room for room in graph.nodes if _package(room) == package])
        for package, text in PACKAGES.items()
    ]
    return drawn(graph, bands)


def _parts(svg: str) -> set[str]:
    """The rooms and arrows of a picture, in words."""
    arrows = re.findall(r'data-from="([^"]+)" data-to="([^"]+)"', svg)
    return {*re.findall(r'data-room="([^"]+)"', svg), *(f"{one} -> {other}" for one, other in arrows)}


def main() -> int:
    """Parses, draws, prints. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the picture is out of date")
    parser.add_argument("--list", action="store_true", help="print every import between rooms; write nothing")
    options = parser.parse_args()
    imports = import_graph(ROOT)
    lines, rooms = count_imports(imports)
    if options.list:
        for room in sorted(set(rooms.values())):
            print(room + (f": {', '.join(sorted(m for m in rooms if rooms[m] == room))}" if ":" in room else ""))
            for (_, imported), count in sorted(pair for pair in lines.items() if pair[0][0] == room):
                print(f"    {imported:24} {count:4}")
        return 0
    svg, cycles = picture(imports)
    for importer, imported in cycles:
        print(f"part of a cycle: {importer} imports {imported} ({lines[importer, imported]} lines)")
    if not options.check:
        PICTURE.write_text(svg, "utf-8")
        return 0
    before = PICTURE.read_text("utf-8") if PICTURE.exists() else ""
    if before != svg:
        new, gone = (
            sorted(_parts(importer) - _parts(imported)) for importer, imported in ((svg, before), (before, svg))
        )
        print(
            f"docs/architecture.svg is not the picture of these imports (new: {', '.join(new) or 'nothing'}; "
            f"gone: {', '.join(gone) or 'nothing'}): run `{COMMAND}`",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
