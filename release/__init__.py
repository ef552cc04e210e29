"""Targets, pull, the ledger with its two anchors, gates, promote and rollback."""
