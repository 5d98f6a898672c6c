#!/usr/bin/env python3
"""The same as `train curriculum`, from wherever it is called (docs/curriculum.md)."""

import in_environment

in_environment.train("curriculum")
