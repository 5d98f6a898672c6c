MODELS: dict = {}
