"""A worker under a process supervisor: `python -m arena.runner.supervised`. Its child processes end with it."""

from arena.supervisor import supervise_rest

if __name__ == "__main__":
    supervise_rest()  # before further imports, which would stay in the supervisor's memory as well
    from arena.runner.worker import main

    main()
