"""Where training data comes from: battles as two sides' logs with choices."""
