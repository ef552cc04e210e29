"""Everything that judges and yields Findings."""
