"""interlock.yaml: what a project declares about its model, its signers, its clients and its stages."""
