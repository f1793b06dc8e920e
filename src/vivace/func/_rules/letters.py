"""Operators that physical tensors are simply given to: what batches already, with dims and sizes moved by one."""

from vivace.func._rules.table import by_name, letters

# Tensors with the batch in front; dims move by one.
by_name(
    "e",
    "d",
    *("softmax.int", "log_softmax.int", "cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"),
    *("sort", "sort.stable", "topk", "kthvalue", "median.dim", "nanmedian.dim", "mode", "max.dim", "min.dim"),
    *("prod.dim_int", "all.dim", "any.dim", "count_nonzero.dim_IntList"),
    *("gather", "scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_add"),
    *("scatter_reduce.two", "flip", "unbind.int", "split.Tensor", "split.sizes", "split_with_sizes", "chunk"),
    *("tensor_split.sections", "tensor_split.indices", "unsafe_chunk", "unsafe_split.Tensor"),
    *("unsafe_split_with_sizes", "select.int", "slice.Tensor", "narrow", "transpose.int", "transpose_", "squeeze.dim"),
    *("squeeze.dims", "squeeze_.dim", "squeeze_.dims", "diagonal", "linalg_cross"),
    *("_fft_c2c", "_fft_r2c", "_fft_c2r", "_resample"),
    # no dims, or only the last ones
    *("tril", "triu", "linalg_matrix_exp", "linalg_inv_ex", "linalg_det", "linalg_slogdet", "linalg_cholesky_ex"),
    *("linalg_lu_factor_ex", "pivots_to_permutation", "linalg_pinv", "geqrf", "linalg_householder_product", "ormqr"),
    *("linalg_ldl_factor_ex", "linalg_ldl_solve", "linalg_solve_ex", "linalg_solve_triangular", "linalg_lu_solve"),
    *("linalg_qr", "linalg_svd", "linalg_eigh", "linalg_eig", "linalg_lstsq", "_cdist_forward", "_euclidean_dist"),
    *("clone", "_to_copy", "detach", "alias", "fill.Scalar", "fill_.Scalar", "zero_", "view_as_real"),
    *("view_as_complex", "view.dtype", "constant_pad_nd", "resolve_conj", "one_hot"),
    *("empty_like", "zeros_like", "ones_like", "full_like", "_standard_gamma_grad", "_dirichlet_grad"),
)
# The same; no dim stands for all.
by_name(
    "e",
    "D",
    *("sum.dim_IntList", "mean.dim", "nansum", "amax", "amin", "var.correction", "std.correction"),
    *("var_mean.correction", "std_mean.correction", "linalg_vector_norm", "logsumexp", "all.dims", "any.dims"),
)
by_name("e", "n", "unsqueeze", "unsqueeze_", "stack")
by_name("e", "r", "permute")
letters("cd", "cat")
letters("es", "view", "_unsafe_view")
letters("ex.", "expand")
letters("es.....", "new_empty", "new_zeros", "new_ones")
letters("es......", "new_full")
letters("esn.", "select_backward")
letters("esd...", "slice_backward")
letters("es.nn", "diagonal_backward")
letters("esd....", "resample_backward")
letters("qq.", "copy_")
letters("eed.", "select_scatter")
letters("eed...", "slice_scatter")
letters("ee.dd", "diagonal_scatter")
letters("f..", "linear")
letters("f....", "layer_norm")
letters("f......", "embedding")
letters("ed.e.", "index_add")
letters("ed.e", "index_copy")
letters("ed..", "index_fill.int_Scalar")
letters("ed.", "index_select")
letters("f...", "isin.Tensor_Tensor")
