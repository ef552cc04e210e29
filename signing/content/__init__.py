"""What signed content can do when it is loaded: signed does not mean safe. Files are parsed, never loaded."""
