"""Team generation: published sets, the roles that they fill, and the selection of six of them."""
