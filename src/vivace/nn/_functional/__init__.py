"""The parts of nn.functional that are written in Python, over native operators."""
