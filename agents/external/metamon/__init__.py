"""metamon's models as agents.

`player.py`: the agent; `serve.py`: the server of a checkpoint; `resident.py`: the process in metamon's environment, which
the server starts; `environment.py`: where metamon is; `setup.py`: installs it.
"""
