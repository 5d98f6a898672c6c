"""Population based training: runs of online training side by side, whose settings change by how strong they become."""
