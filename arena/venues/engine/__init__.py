"""The engine venue: fixtures of gen1ou and gen1randombattle in batches on agents/engine, with Showdown's own results."""
