"""The loop: play, learn, judge, keep or go back. Stages of a YAML file, whose state is in the store."""
