"""What a run writes, in which shape, and how it is read again."""
