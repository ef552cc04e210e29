"""Rules on the set of files a model consists of."""
