"""The commands of `arena`, one module each: parse, call, print."""
