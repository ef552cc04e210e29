"""Rules on weights by their headers."""
