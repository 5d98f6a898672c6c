"""The pool's agents as users of our server, for visitors."""
