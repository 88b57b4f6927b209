"""Who was signalled, and who is stuck."""
