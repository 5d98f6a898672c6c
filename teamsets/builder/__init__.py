"""How teams are made: published sets, what roles they fill, and how six of them are put together."""
