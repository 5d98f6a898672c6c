#!/usr/bin/env python3
"""Compares the rules of online training, with and without a reference: the same as `train ablate`, by default the shipped
ablation `algorithms` (docs/online.md).

    scripts/compare_algorithms.py [CONFIG.yaml] [--dry-run] [--set KEY=VALUE]
"""

import sys

import in_environment

if __name__ == "__main__":  # and not in the processes that read battles, which load this file, too
    if len(sys.argv) == 1 or sys.argv[1].startswith("--"):
        sys.argv.insert(1, "algorithms")
    in_environment.train("ablate")
