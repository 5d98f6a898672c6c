"""Language models as players (docs/llm.md): `llm:PATH`, a local model, and `llm:openai?base_url=…&model=…`, a server's.

`prompts.py` is the text of a decision and of an answer, for players and for the pairs that train them; `descriptions.py`
fills its fields, `templates/` has the shipped prompts, `pairs.py` reads what both slots do in doubles. `player.py` is what
all language models share. `local.py` asks the server of a local model (`serve.py`, one process for all workers, which holds
`generation.py`'s model); `remote.py` asks an OpenAI-compatible server over `http.py`.
"""

from typing import Any

from agents.llm.local import local
from agents.llm.remote import OpenAI

#: Name -> agent class, for the registry.
MODELS: dict[str, Any] = {"*": local, "openai": OpenAI}

__all__ = ["MODELS"]
