"""Language models trained on preferences (docs/llm.md): TRL's DPO with LoRA adapters.

`config.py` are the settings, `data.py` the pairs, `loading.py` the model and its adapter, `run.py` the run.
"""
