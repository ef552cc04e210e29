"""Rules on chat templates, judged by what they render."""
