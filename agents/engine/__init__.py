"""Batched simulators of generation 1 and 9, equal to Pokémon Showdown's own decision by decision (docs/engine.md)."""

#: The formats of generation 1, which agents play on arrays of observations.
FORMATS = ("gen1ou", "gen1randombattle")
#: Formats of which the engine writes what Showdown does, so that every agent can play them.
HOSTED_FORMATS = ("gen9ou",)
ALL_FORMATS = (*FORMATS, *HOSTED_FORMATS)
#: All of them in words, for messages.
FORMATS_IN_WORDS = f"{', '.join(ALL_FORMATS[:-1])} and {ALL_FORMATS[-1]}"
