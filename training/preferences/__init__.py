"""Preferences: what was tried at the same decision -> pairs of a better and a worse answer -> JSON Lines and datasets."""
