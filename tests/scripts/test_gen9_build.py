"""The times of the generation-9 engine's builds: what is changed and what is added fit the sources as they are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support.compilers import need_compiler
from support.scripts import script

from agents.engine.gen9 import library
from agents.engine.gen9.layout import SOURCES

need_compiler()

gen9_build = script("bench/gen9_build.py")


def test_what_is_changed_is_among_the_sources() -> None:
    text = (SOURCES / gen9_build.ONE_FILE).read_text()
    assert "HandlerList" in text, "a file of handlers"
    assert f'#include "{gen9_build.HEADER}"' in text and (SOURCES / gen9_build.HEADER).is_file()
    assert {gen9_build.ONE_FILE, gen9_build.HEADER} <= set(re.findall(r"\w+\.(?:cpp|h)\b", gen9_build.__doc__))


def test_the_three_builds_are_timed(tmp_path: Path) -> None:
    """On two files in place of the engine, which takes 20 seconds of CPU."""
    (tmp_path / gen9_build.HEADER).write_text("int number();\n")
    (tmp_path / gen9_build.ONE_FILE).write_text(f'#include "{gen9_build.HEADER}"\nint number() {{ return 1; }}\n')
    (tmp_path / "other.cpp").write_text("int other() { return 2; }\n")
    times = gen9_build.measure(0, tmp_path)
    assert list(times) == ["cold", "one file", "a header"]
    assert all(cpu > 0 and elapsed > 0 for cpu, elapsed in times.values())
    assert library.SOURCES == SOURCES


def test_the_added_handlers_are_handlers(tmp_path: Path) -> None:
    count = len(gen9_build.BODIES)
    gen9_build.add_handlers(tmp_path, count)
    (file,) = tmp_path.glob("*.cpp")
    assert file.read_text().count("onAnyModifyDamage") == count
    command = [*library.compiler(), *library.FLAGS, "-fsyntax-only", "-I", str(SOURCES), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
