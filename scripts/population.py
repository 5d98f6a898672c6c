#!/usr/bin/env python3
"""The same as `train population`, from wherever it is called (docs/online.md)."""

import in_environment

if __name__ == "__main__":  # and not in the processes that read battles, which load this file, too
    in_environment.train("population")
