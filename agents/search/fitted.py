"""The fitted weights of both searches: values and priors of positions by generation, and the network of the exact search.

They are made by scripts/build/fit_search_weights.py and scripts/build/fit_exact_search.py (docs/search.md).
"""

from pathlib import Path

FOLDER = Path(__file__).with_name("weights")
