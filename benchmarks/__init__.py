"""Measurements of vivace beside PyTorch: `python -m benchmarks` runs those behind the README's table."""
