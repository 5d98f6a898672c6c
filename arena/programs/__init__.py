"""Programs of other people in a battle on our server."""
