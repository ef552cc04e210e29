"""Rules on tokenizers."""
