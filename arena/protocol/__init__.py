"""A user of a Showdown server: connection, sign-in, and a battle's room as the simulator would speak."""
