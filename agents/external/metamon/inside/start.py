"""Runs in metamon's own environment: `python start.py SETTINGS`, started by serve.py. Nothing of the arena is imported here.

Protocol lines and requests come in, choices in Showdown's text go out. What is between them is metamon's: its player's
reading of the battle, UniversalState, observation space, tokenizer, agent, action space.

SETTINGS is JSON: the fields of serve.py's Settings, and threads. Input and output are lines of JSON:

    {"asks": [{"session", "format", "name", "lines", "request", "seed", "temperature"}, ...], "forget": [session, ...]}
    {"answers": [{"choice", ...} or {"error": message}, ...]}

The first line of output is {"ready": about} or {"error": message}. The process ends at the end of its input.
"""

import json
import os
import sys
import warnings


def main():
    """Load the checkpoint, then answer until the input ends."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what metamon prints must not be mixed with the answers
    settings = json.loads(sys.argv[1])

    def say(reply):
        output.write(json.dumps(reply) + "\n")
        output.flush()

    try:
        resident = _loaded(settings)
    except BaseException as error:
        say({"error": f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]})
        raise
    warnings.simplefilter("ignore")
    say({"ready": resident.about()})
    for line in sys.stdin:
        order = json.loads(line)
        for session in order["forget"]:
            resident.forget(session)
        say({"answers": resident.answer(order["asks"])})


def _loaded(settings):
    import torch

    if settings["device"] == "cpu" or not torch.cuda.is_available():
        os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")  # compiling takes a minute, and there is little to gain
    from resident import Resident

    return Resident(settings)


if __name__ == "__main__":
    main()
