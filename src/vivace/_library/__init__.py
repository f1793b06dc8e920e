"""What stands behind torch.library and torch.ops: schemas, the register of Python's kernels, custom operators."""
