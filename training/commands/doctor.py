"""`train doctor`: what would stop a training on several GPUs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from arena.terminal.commands import json_option, print_json
from teamsets.errors import BadInput
from training.commands.running import need_packages
from training.machines.diagnosis.collectives import collective_findings
from training.machines.diagnosis.finding import Finding
from training.machines.diagnosis.machine import machine_findings


@click.command()
@click.argument("given", nargs=-1, metavar="")
@click.option(
    "--processes", type=click.IntRange(min=2), metavar="N", help="Processes of the test. [default: GPUs, at least 2]"
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=120.0, show_default=True, help="Limit of the test, in seconds."
)
@click.option(
    "--logs", type=click.Path(path_type=Path, file_okay=False), default=Path("doctor-logs"), show_default=True,
    help="Folder for what the processes of the test print, with NCCL's messages.",
)  # fmt: skip
@json_option
def doctor(given: tuple[str, ...], processes: int | None, timeout: float, logs: Path, as_json: bool) -> None:
    """Check this machine for a training in several processes. Exits with 1 if one cannot work.

    Prints a line per finding, with what to do about it. The last is a real all-reduce and broadcast over all GPUs, or over
    two processes on the CPU where there is no GPU.

    \b
    Examples:
      train doctor
      train doctor --processes 8 --timeout 60
    """
    if given:
        raise BadInput(
            f"{given[0]}: train doctor takes no configuration and no run: it checks this machine, for all of them alike; "
            "`train doctor` alone does it"
        )
    need_packages()
    findings: list[Finding] = []

    def show(finding: Finding) -> None:
        findings.append(finding)
        print(finding.line, flush=True, file=sys.stderr if as_json else sys.stdout)

    for finding in machine_findings(Path()):
        show(finding)
    import torch

    from training.machines.diagnosis.devices import device_findings

    for finding in device_findings():
        show(finding)
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    backend = "nccl" if gpus > 1 else "gloo"
    for finding in collective_findings(processes or max(2, gpus), backend, timeout, logs):
        show(finding)
    failed = any(finding.level == "NO" for finding in findings)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        print("fix the lines marked NO" if failed else "training in several processes works here")
    raise click.exceptions.Exit(1 if failed else 0)
