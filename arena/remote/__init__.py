"""Battles with others: visitors of our own server (`arena serve`), and users of another one (`arena ladder`)."""
