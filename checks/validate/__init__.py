"""May NEW replace OLD under traffic? A verdict with proof or witness, and a swap plan."""
