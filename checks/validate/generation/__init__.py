"""Rules on generation_config.json and the set of tokens that end an answer."""
