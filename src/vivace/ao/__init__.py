"""torch.ao: what models in floating point use of it; there are no quantized tensors."""
