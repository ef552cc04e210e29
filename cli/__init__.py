"""The face: one file per command. Options in, one room called, a Report out. No logic."""
