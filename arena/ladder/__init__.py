"""Battles of our agents on other people's servers."""
