"""Finding, Report and one file per output format. Knows no other room."""
