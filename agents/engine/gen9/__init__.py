"""A batched generation-9 simulator in C++, equal to Showdown: ten sets so far, which nothing uses (docs/decisions.md)."""
