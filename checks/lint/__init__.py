"""The seven hot-update anti-patterns: one folder a family, one file a rule."""
