"""Does the swap fit into GPU memory."""
