"""What lint rules read: files turned into facts with lines and columns."""
