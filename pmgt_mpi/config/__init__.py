"""What the user asked for: read, checked, written and compared."""
