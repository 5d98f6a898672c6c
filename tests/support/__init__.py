"""What several test modules use: the command line, small tournaments, made-up stores and logs, stand-ins of programs."""
