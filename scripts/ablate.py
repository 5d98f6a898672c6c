#!/usr/bin/env python3
"""The same as `train ablate`, from wherever it is called (docs/ablations.md)."""

import in_environment

in_environment.train("ablate")
