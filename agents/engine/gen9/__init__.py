"""A batched generation-9 simulator in C++, equal to Showdown: gen9ou as its teams are played (docs/engine.md)."""
