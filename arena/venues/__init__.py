"""Where battles are played: Showdown in process, a Showdown server, our engine; and agents in processes of their own."""
