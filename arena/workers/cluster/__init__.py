"""Workers on the machines of a Ray cluster: `--on ray` and `--on ray://HOST:PORT` (docs/scale.md)."""
