"""What every operator is, once."""
