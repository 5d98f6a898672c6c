"""A worker under a process supervisor: `python -m arena.runner.supervised`. Its child processes end with it."""

from arena.supervisor import supervise_rest

if __name__ == "__main__":
    supervise_rest()  # before anything is imported that the supervisor would have in memory, too
    from arena.runner.worker import main

    main()
