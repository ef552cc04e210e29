"""HU0: what the run itself has to say."""

RULES = {"HU000": ("hu000_notice", ())}
