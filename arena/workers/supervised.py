"""A worker under a process supervisor: `python -m arena.workers.supervised`. Its child processes end with it.

With `--closed` both are closed to other processes of the user, before they import more than this.
"""

import sys

from arena.processes.supervisor import supervise_rest
from teamsets.processes import close_to_others

if __name__ == "__main__":
    if "--closed" in sys.argv[1:]:
        close_to_others()
    supervise_rest()  # before further imports, which would stay in the supervisor's memory as well
    from arena.workers.worker import main

    main()
