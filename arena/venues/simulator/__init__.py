"""The simulator venue: Showdown in a Node child process, and the seats of the agents in this process."""
