"""A worker under its keeper: `python -m arena.runner.kept`. When the worker ends, so does all that it has started."""

from arena.keeper import keep_rest

if __name__ == "__main__":
    keep_rest()  # before anything is imported that the keeper would have in memory, too
    from arena.runner.worker import main

    main()
