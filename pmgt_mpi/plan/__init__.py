"""What a run would cost on a cluster that one does not have yet."""
