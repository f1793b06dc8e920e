"""Sparse tensors in coordinate format."""

import copy
import pickle

import pytest

import vivace as torch

DENSE = torch.tensor([[1.0, 0, 2], [0, 0, 3], [4, 5, 0]])


def sparse():
    return DENSE.to_sparse()


def doubled():
    """Indices that come twice, out of order."""
    return torch.sparse_coo_tensor([[1, 0, 1], [1, 2, 1]], [1.0, 2.0, 3.0], (2, 3))


def equal(s, dense):
    return s.is_sparse and torch.equal(s.to_dense(), dense)


def test_what_it_is():
    s = sparse()
    assert isinstance(s, torch.Tensor) and s.is_sparse and s.layout is torch.sparse_coo and not DENSE.is_sparse
    assert (s.shape, s.size(0), s.dim(), s.numel(), len(s)) == ((3, 3), 3, 2, 9, 3)
    assert (s.dtype, s.device.type, s._nnz(), s.sparse_dim(), s.dense_dim()) == (torch.float32, "cpu", 5, 2, 0)
    assert s.indices().tolist() == [[0, 0, 1, 2, 2], [0, 2, 2, 0, 1]] and s.values().tolist() == [1, 2, 3, 4, 5]
    assert repr(s) == (
        "tensor(indices=tensor([[0, 0, 1, 2, 2],\n                       [0, 2, 2, 0, 1]]),\n"
        "       values=tensor([1., 2., 3., 4., 5.]),\n       size=(3, 3), nnz=5, layout=torch.sparse_coo)"
    )


def test_coalesce():
    s = doubled()
    assert not s.is_coalesced() and s._values().tolist() == [1, 2, 3]
    with pytest.raises(RuntimeError, match=r"Cannot get values on an uncoalesced tensor"):
        s.values()
    c = s.coalesce()
    assert c.is_coalesced() and c.indices().tolist() == [[0, 1], [2, 1]] and c.values().tolist() == [2, 4]
    assert torch.equal(s.to_dense(), c.to_dense()) and c.coalesce() is c


def test_coalesced_by_word():
    s = torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,))
    assert s._coalesced_(True) is s and s.is_coalesced() and s.indices().tolist() == [[0, 1]]


def test_making():
    assert torch.sparse_coo_tensor([[0, 1], [1, 5]], [1.0, 2.0]).shape == (2, 6)
    empty = torch.sparse_coo_tensor((2, 3))
    assert empty._nnz() == 0 and equal(empty, torch.zeros(2, 3))
    assert equal(torch.sparse_coo_tensor(size=(2, 3)), torch.zeros(2, 3))
    hybrid = torch.sparse_coo_tensor(torch.tensor([[1]]), torch.ones(1, 2), (2, 2))
    assert hybrid.dense_dim() == 1 and hybrid.to_dense().tolist() == [[0, 0], [1, 1]]
    old = torch.sparse.FloatTensor(torch.tensor([[0], [1]]), torch.tensor([2]), torch.Size([1, 2]))
    assert isinstance(old, torch.sparse.FloatTensor) and not isinstance(old, torch.sparse.DoubleTensor)
    assert old.dtype is torch.float32 and old.to_dense().tolist() == [[0, 2]]
    assert DENSE.to_sparse(1).values().shape == (3, 3) and equal(DENSE.to_sparse(1), DENSE)
    for indices, values, size in (
        ([[0, 3]], [1.0, 2.0], (2,)),
        ([[0, -1]], [1.0, 2.0], (2,)),
        ([[0]], [1.0, 2.0], (2,)),
        ([0], [1.0], (2,)),
        ([[0]], [1.0], (2, 2)),
    ):
        with pytest.raises(RuntimeError, match=r"index|indices|dimensions"):
            torch.sparse_coo_tensor(indices, values, size)


def test_products():
    s, v = sparse(), torch.tensor([1.0, 2.0, 3.0])
    for product in (s @ DENSE, torch.mm(s, DENSE), torch.spmm(s, DENSE), torch.sparse.mm(s, DENSE), s.matmul(DENSE)):
        assert torch.equal(product, DENSE @ DENSE)
    assert torch.equal(DENSE @ s, DENSE @ DENSE) and torch.equal(torch.mm(DENSE, s), DENSE @ DENSE)
    assert torch.equal(s @ v, DENSE @ v) and torch.equal(v @ s, v @ DENSE)
    assert equal(s @ s, DENSE @ DENSE) and equal(doubled() @ s, doubled().to_dense() @ DENSE)
    assert torch.equal(torch.addmm(DENSE, s, DENSE, alpha=2), DENSE + 2 * DENSE @ DENSE)
    assert torch.equal(torch.sparse.addmm(DENSE, s, DENSE, beta=3), 3 * DENSE + DENSE @ DENSE)
    with pytest.raises(RuntimeError, match="3x3 and 2x3"):
        s @ doubled()


def test_arithmetic():
    s, other = sparse(), DENSE.t()
    assert equal(s * 2, DENSE * 2) and equal(2 * s, DENSE * 2) and equal(s / 2, DENSE / 2) and equal(-s, -DENSE)
    assert equal(s + other.to_sparse(), DENSE + other) and equal(s - other.to_sparse(), DENSE - other)
    assert torch.equal(DENSE + s, DENSE * 2) and torch.equal(DENSE - s, DENSE * 0)
    assert equal(s * other, DENSE * other) and equal(other * s, DENSE * other)
    assert equal(s * other.to_sparse(), DENSE * other)
    assert equal(s * torch.sparse_coo_tensor((3, 3)), DENSE * 0)
    assert equal(s.add(s, alpha=3), DENSE * 4) and equal(torch.sub(s, s, alpha=3), DENSE * -2)
    assert equal(s.abs(), DENSE) and equal(torch.sin(s), DENSE.sin()) and equal(s**2, DENSE**2)
    assert (doubled().square().to_dense()[1, 1], (doubled() * 2).to_dense()[1, 1]) == (16, 8)


def test_views_and_parts():
    s = sparse()
    assert equal(s.t(), DENSE.t()) and equal(s.T, DENSE.t()) and equal(torch.transpose(s, 0, 1), DENSE.t())
    assert equal(s[2], DENSE[2]) and equal(s[-1], DENSE[2]) and s[0][2].item() == 2
    assert equal(s.index_select(1, torch.tensor([2, 0])), DENSE[:, [2, 0]])
    assert equal(torch.cat([s, s]), torch.cat([DENSE, DENSE])) and equal(torch.cat([s, s], 1), DENSE.repeat(1, 2))
    assert equal((DENSE * 7).sparse_mask(s), DENSE * 7)
    with pytest.raises(IndexError, match="out of bounds"):
        s[3]


def test_sums():
    s = sparse()
    assert s.sum() == 15 and torch.sparse.sum(s) == 15 and s.sum([0, 1]) == 15
    assert equal(torch.sparse.sum(s, 0), DENSE.sum(0)) and equal(s.sum(-1), DENSE.sum(1))
    hybrid = DENSE.to_sparse(1)
    assert equal(hybrid.sum(1), DENSE.sum(1)) and hybrid.sum(0).tolist() == DENSE.sum(0).tolist()


@pytest.mark.parametrize("dim", [0, 1])
def test_softmax(dim):
    present = DENSE.masked_fill(DENSE == 0, float("-inf")).softmax(dim)
    assert torch.allclose(torch.sparse.softmax(sparse(), dim).to_dense(), present)
    logs = torch.sparse.log_softmax(sparse(), dim)
    assert torch.allclose(logs.values().exp(), torch.sparse.softmax(sparse(), dim).values())


def test_gradients_go_to_the_values():
    values = torch.ones(3, requires_grad=True)
    s = torch.sparse_coo_tensor([[1, 0, 1], [1, 2, 1]], values, (2, 3))
    assert s.requires_grad and not s.is_leaf
    dense = torch.ones(3, 2, requires_grad=True)
    (torch.sparse.mm(s, dense) * torch.tensor([[1.0, 2], [3, 4]])).sum().backward()
    assert values.grad.tolist() == [7, 3, 7] and dense.grad.tolist() == [[0, 0], [6, 8], [1, 2]]
    values.grad = None
    (s.coalesce().to_dense() * 2).sum().backward()
    assert values.grad.tolist() == [2, 2, 2]
    dense = torch.ones(2, 2, requires_grad=True)
    (dense.to_sparse() * 3).to_dense().sum().backward()
    assert dense.grad.tolist() == [[3, 3], [3, 3]]
    leaf = torch.sparse_coo_tensor([[0], [1]], [2.0], (2, 2), requires_grad=True)
    (leaf @ torch.ones(2, 1)).sum().backward()
    assert leaf.is_leaf and leaf.grad.to_dense().tolist() == [[0, 1], [0, 0]]


def test_conversions_and_copies():
    s = sparse()
    assert s.double().dtype is torch.float64 and s.to(torch.int64).values().dtype is torch.int64
    assert equal(copy.deepcopy(s), DENSE) and equal(pickle.loads(pickle.dumps(s)), DENSE) and equal(s.clone(), DENSE)

    class Graph(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("adjacency", sparse())

    assert Graph().double().adjacency.dtype is torch.float64


def test_what_is_not_there_refuses():
    s = sparse()
    for call in (lambda: s.exp(), lambda: torch.mean(s), lambda: s == s, lambda: s.numpy(), lambda: s[:, 0]):
        with pytest.raises(NotImplementedError, match="sparse tensor"):
            call()
    with pytest.raises(RuntimeError, match="values expected sparse tensor layout but got Strided"):
        DENSE.values()
    with pytest.raises(NotImplementedError, match="_nnz expected sparse"):
        DENSE._nnz()
    assert DENSE.to_dense() is DENSE and DENSE.sparse_dim() == 0


def test_graph_convolution_learns():
    torch.manual_seed(0)
    edges = torch.tensor([[0, 1, 1, 2, 3, 4, 4, 5], [1, 0, 2, 1, 4, 3, 5, 4]])
    loops = torch.arange(6).expand(2, 6)
    adjacency = torch.sparse_coo_tensor(torch.cat([edges, loops], 1), torch.full((14,), 0.4), (6, 6))
    features, labels = torch.eye(6), torch.tensor([0, 0, 0, 1, 1, 1])
    first, second = torch.nn.Linear(6, 8), torch.nn.Linear(8, 2)
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.05)
    for _ in range(40):
        optimizer.zero_grad()
        hidden = torch.relu(torch.spmm(adjacency, first(features)))
        loss = torch.nn.functional.cross_entropy(torch.spmm(adjacency, second(hidden)), labels)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1


CUBE = torch.tensor([[[0.0, 1, 0], [2, 0, 0]], [[0, 0, 3], [0, 0, 0]]])


def test_dims_in_another_order():
    s, cube = sparse(), CUBE.to_sparse()
    assert equal(s.mT, DENSE.mT) and equal(s.T, DENSE.T) and equal(s.H, DENSE.T) and equal(s.mH, DENSE.mT)
    assert equal(cube.mT, CUBE.mT) and equal(cube.permute(2, 0, -2), CUBE.permute(2, 0, 1))
    assert equal(cube.T, CUBE.permute(2, 1, 0)) and equal(cube.adjoint(), CUBE.mT)
    turned = torch.sparse_coo_tensor([[0], [1]], [1 + 2j], (1, 2)).mH
    assert turned.to_dense().tolist() == [[0], [1 - 2j]]
    with pytest.raises(RuntimeError, match="2-D"):
        cube.H  # noqa: B018


def test_attributes_of_the_elements():
    s = torch.sparse_coo_tensor([[0, 1]], [1 + 1j, 2], (3,))
    assert equal(s.data, s.to_dense()) and equal(s.real, s.to_dense().real) and equal(s.imag, s.to_dense().imag)
    assert equal(sparse().real, DENSE)
    with pytest.raises(RuntimeError):
        s.nbytes  # noqa: B018


def test_slices_and_new_dims():
    cube = CUBE.to_sparse()
    for dim in range(3):
        assert equal(cube.select(dim, -1), CUBE.select(dim, -1)) and equal(cube.unsqueeze(dim), CUBE.unsqueeze(dim))
    assert equal(cube.unsqueeze(-1), CUBE.unsqueeze(-1))
    assert equal(torch.stack([cube, 2 * cube], 1), torch.stack([CUBE, 2 * CUBE], 1))
    hybrid = CUBE.to_sparse(2)
    assert equal(hybrid.select(2, 1), CUBE.select(2, 1)) and equal(hybrid.unsqueeze(3), CUBE.unsqueeze(3))


def test_batched_product():
    a, b = CUBE.clone().requires_grad_(), torch.arange(12.0).reshape(2, 3, 2)
    product = torch.bmm(a.to_sparse(), b)
    assert torch.equal(product, torch.bmm(CUBE, b))
    product.sum().backward()
    assert torch.equal(a.grad[CUBE != 0], b.sum(2).unsqueeze(1).expand(2, 2, 3)[CUBE != 0])
    with pytest.raises(RuntimeError, match="bmm"):
        torch.bmm(CUBE.to_sparse(), b[:1])


def test_reductions_masks_and_types():
    s = doubled()
    assert s.norm().item() == pytest.approx(20**0.5) and s.any() and not torch.zeros_like(s).any()
    assert s.bool().dtype is torch.bool and s.long().dtype is torch.int64
    mask = torch.sparse_coo_tensor([[0, 1], [0, 1]], [1.0, 1.0], (2, 3))
    assert equal(s.sparse_mask(mask), torch.tensor([[0.0, 0, 0], [0, 4, 0]])) and s.sparse_mask(mask)._nnz() == 2
