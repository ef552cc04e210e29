"""Rules on config.json and its relatives."""
