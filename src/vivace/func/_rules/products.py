"""Products of matrices and vectors: one product of batches."""

import vivace
from vivace.func._rules.table import decomposed, rule


def _column(t):
    return t.unsqueeze(-1)


@rule("mm", "bmm")
def product(info, in_dims, a, b):
    return a.matmul(b), 0


@decomposed("_pdist_forward")
def pdist(self, p):
    i, j = vivace.triu_indices(len(self), len(self), 1)
    return vivace.linalg.vector_norm(self[i] - self[j], p, -1)


@rule("mv")
def mv(info, in_dims, matrix, vector):
    if in_dims[1] is None:
        return matrix.matmul(vector), 0
    if in_dims[0] is None:
        return vector.matmul(matrix.mT), 0
    return matrix.matmul(_column(vector)).squeeze(-1), 0


@rule("dot")
def dot(info, in_dims, a, b):
    if in_dims[0] is None:
        a, b = b, a
    if None in in_dims:
        return a.matmul(b), 0
    return a.unsqueeze(-2).matmul(_column(b)).squeeze((-2, -1)), 0


@rule("vdot")
def vdot(info, in_dims, a, b):
    return dot(info, in_dims, a.conj(), b)


def _sum(self, product, beta, alpha):
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product + product.new_zeros(self.shape)
    return product + (self if beta == 1 else self * beta)


@decomposed("addmm")
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    return _sum(self, mat1.mm(mat2), beta, alpha)


@decomposed("addmv")
def addmv(self, mat, vec, *, beta=1, alpha=1):
    return _sum(self, mat.mv(vec), beta, alpha)


@decomposed("baddbmm")
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    return _sum(self, batch1.bmm(batch2), beta, alpha)


@decomposed("addbmm")
def addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    return _sum(self, batch1.bmm(batch2).sum(0), beta, alpha)


@rule("linear")
def linear(info, in_dims, x, weight, bias=None):
    if in_dims[1] is None:
        out = x.matmul(weight.t())
        if bias is None:
            return out, 0
        batched = in_dims[0] is not None
        return out + bias.view(bias.shape[0], *[1] * (out.dim() - batched - 1), bias.shape[-1]), 0
    lead = x.shape[:-1] if in_dims[0] is None else x.shape[1:-1]
    if in_dims[0] is None:
        x = (x if len(lead) == 1 else x.reshape(-1, x.shape[-1])).expand(info.batch_size, -1, -1)
    elif len(lead) != 1:
        x = x.flatten(1, -2) if lead else x.unsqueeze(1)
    if bias is None:
        out = x.bmm(weight.mT)
    else:
        out = (bias if in_dims[2] is None else bias.unsqueeze(1)).baddbmm(x, weight.mT)
    return out if len(lead) == 1 else out.unflatten(1, lead) if lead else out.squeeze(1), 0
