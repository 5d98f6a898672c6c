"""A worker under a process supervisor: `python -m arena.runner.supervised`. Its child processes end with it.

With `--closed` both are closed to other processes of the user, before they import more than this.
"""

import sys

from arena.supervisor import supervise_rest
from teamsets.processes import close_to_others

if __name__ == "__main__":
    if "--closed" in sys.argv[1:]:
        close_to_others()
    supervise_rest()  # before further imports, which would stay in the supervisor's memory as well
    from arena.runner.worker import main

    main()
