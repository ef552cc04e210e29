"""Digests, OpenSSF Model Signing bundles, keys, identity policy and strict verification."""
