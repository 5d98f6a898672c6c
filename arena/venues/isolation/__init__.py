"""`--isolate`: each agent's steps in a process of their own, which holds one seat of one battle at a time.

seat.py      the worker's end of a seat whose agent is in another process: checks its answers and keeps the clock
agent_process.py   the worker's end of an agent process; scheduling of their turns
process.py   the worker's end of the nursery that forks agent processes
nursery.py   runs as a process of its own beside each worker: forks agent processes, reaps and ends them
inside.py    runs in an agent process: the agent, its view of the battle, and nothing else
describing.py  what a run must know of an agent (its fingerprint …), without importing its code
"""
