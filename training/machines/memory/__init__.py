"""How much memory a training run needs: computed before it starts."""
