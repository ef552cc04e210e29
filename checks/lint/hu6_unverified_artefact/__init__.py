"""HU6 unverified artefact."""
