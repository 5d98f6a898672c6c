"""A batched generation-1 battle simulator, equal to Pokémon Showdown's own decision by decision (docs/engine.md)."""

#: The formats that it plays.
FORMATS = ("gen1ou", "gen1randombattle")
