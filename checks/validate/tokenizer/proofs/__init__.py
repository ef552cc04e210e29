"""What can be proven about two tokenizers: encoders of our own, lemmas with their proofs, and witnesses."""
