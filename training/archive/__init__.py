"""A run as one file that can be given away: packed with checksums and a model card, and unpacked only if it is whole."""
