"""Measures this project on a machine with a GPU, part by part: a table, and all of it as JSON.

    python scripts/gpu/measure.py --out gpu [--seconds 470] [--parts doctor memory ...]
    python scripts/gpu/measure.py --out gpu --rehearse       # each part at toy size on the CPU: does it run?

Each part (scripts/gpu/parts.py) runs in a process of its own with a limit of its own, and what it has found by then counts:
no part takes another's results with it. Parts whose times do not disturb each other run side by side. OUT gets results.json,
log.txt and, of the parts that train, their checkpoints as NAME.tar. Exits with 1 if a part failed or ran out of time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "bench"), str(HERE.parent / "build"), str(HERE.parents[1])]

from parts import PARTS, PROJECT, Job  # noqa: E402

from teamsets.errors import ArenaError  # noqa: E402

#: One stage after another; the lanes of a stage side by side, the parts of a lane in turn.
STAGES = (
    (("compiling",), ("doctor", "memory", "fsdp2", "speeds", "llm-dpo")),
    (("engine", "online", "profile", "arms", "ppo"),),
)
#: Seconds of a part, four times as many in a rehearsal; `ppo` gets what is left.
LIMITS = {
    "compiling": 200, "doctor": 100, "memory": 160, "fsdp2": 70, "speeds": 100, "engine": 50,
    "online": 150, "profile": 110, "llm-dpo": 60, "arms": 600, "ppo": 3600,
}  # fmt: skip
#: Parts that are measured where none is named: without `arms`, a comparison of its own.
DEFAULT = [name for name in PARTS if name != "arms"]
PACKAGES = ("torch", "accelerate", "numpy", "numba", "llvmlite")
Record = dict[str, Any]


def machine() -> Record:
    """What was measured on."""
    command = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        gpu = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        gpu = ""
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    facts = {"gpu": gpu or "none", "cpu": cpu[0].split(":")[1].strip() if cpu else platform.machine()}
    facts |= {"cores": len(os.sched_getaffinity(0)), "python": platform.python_version()}
    for name in PACKAGES:
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            facts[name] = "none"
    return facts


def run_part(name: str, work: Path, rehearse: bool, seconds: float) -> Record:
    """Run a part in a process of its own, and return what it found and how it ended."""
    seconds = min(seconds, LIMITS[name] * (4 if rehearse else 1))
    if seconds <= 0:
        print(f"== {name}: not started, no time is left", flush=True)
        return {"part": name, "ended": "not started", "seconds": 0.0, "rows": []}
    began = time.monotonic()
    command = [sys.executable, str(HERE / "measure.py"), "--part", name, "--out", str(work), "--seconds", str(seconds)]
    command += ["--rehearse"] if rehearse else []
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")])),
    }
    rows, log = work / f"{name}.jsonl", work / f"{name}.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, cwd=PROJECT, env=environment, start_new_session=True
        )
        try:
            code = process.wait(seconds)
            ended = "done" if code == 0 else f"failed with exit code {code}"
        except subprocess.TimeoutExpired:
            ended = f"stopped after {seconds:.0f} s"
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    lines = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    result = {"part": name, "ended": ended, "seconds": round(time.monotonic() - began, 1), "rows": lines}
    print(table(result, log), flush=True)
    return result


def table(result: Record, log: Path) -> str:
    """The lines of a part, and the end of its log where it failed."""
    lines = [f"== {result['part']}: {result['ended']}, {result['seconds']} s"]
    lines += ["   " + "  ".join(f"{name} {shown(value)}" for name, value in row.items()) for row in result["rows"]]
    if result["ended"] != "done":
        lines += [f"   | {line[:200]}" for line in log.read_text(errors="replace").splitlines()[-12:]]
    return "\n".join(lines)


def shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def one_part(options: argparse.Namespace) -> None:
    """In a part's process: each row to its file as soon as it is there."""
    with (options.out / f"{options.part}.jsonl").open("w") as file:
        for row in PARTS[options.part](Job(options.out.resolve(), options.rehearse, options.seconds)):
            print(json.dumps(row), file=file, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=470.0, help="of all parts together (default: %(default)s)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=DEFAULT, metavar="PART")
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        one_part(options)
        return 0
    began = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    about = machine()
    print("  ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)

        def lane(parts: tuple[str, ...]) -> list[Record]:
            chosen = [part for part in parts if part in options.parts]
            return [
                run_part(part, work, options.rehearse, options.seconds - (time.monotonic() - began)) for part in chosen
            ]

        results: list[Record] = []
        for stage in STAGES:
            with ThreadPoolExecutor(len(stage)) as lanes:
                results += [result for lane_results in lanes.map(lane, stage) for result in lane_results]
        (options.out / "results.json").write_text(json.dumps({"machine": about, "parts": results}, indent=1))
        logs = [f"== {path.name}\n{path.read_text(errors='replace')}" for path in sorted(work.glob("*.log"))]
        (options.out / "log.txt").write_text("\n".join(logs))
        for packed in work.glob("*.tar"):
            (options.out / packed.name).write_bytes(packed.read_bytes())
    return int(any(result["ended"] != "done" for result in results))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ArenaError as error:
        sys.exit(f"measure: {error}")
