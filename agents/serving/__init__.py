"""Servers that hold a model once for all workers of a machine, and the connections to them.

`wire.py`: frames and the paths of sockets; `client.py`: connects to a server or starts it; `server.py`: its connections and
its end. agents/policy and agents/llm say what a frame means and what answers it.
"""
