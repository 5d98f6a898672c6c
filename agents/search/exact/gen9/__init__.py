"""The exact search's part for generation 9: what a seat's log tells, as the words of the generation-9 engine."""
