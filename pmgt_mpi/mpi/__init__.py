"""Where this process is among the others, and what all of them do together."""
