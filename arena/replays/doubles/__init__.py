"""People's battles of doubles with open team sheets: what each side was asked and chose (generation 9)."""
