"""Multi-head attention from projected or unprojected queries, keys and values."""

import math

import vivace

from . import native as _nn


def canonical_mask(mask, name, dtype, other=None, other_name="", check_other=True):
    """A mask as numbers to add to the scores: a true boolean becomes minus infinity."""
    if mask is None:
        return None
    if mask.dtype != vivace.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if check_other and other is not None and mask.dtype != other.dtype:
        import warnings

        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    if mask.is_floating_point():
        return mask
    return vivace.zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))


def _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the inputs have a batch dimension; an AssertionError where they don't fit."""
    batched = query.dim() == 3
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    if key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {query.dim()}-D but found {key.dim()}-D and "
            f"{value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != query.dim() - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {query.dim() - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D "
            "tensor instead"
        )
    return batched


def _project(query, key, value, packed, separate, bias):
    """Queries, keys and values from the packed projection or from three separate ones."""
    biases = (None, None, None) if bias is None else bias.chunk(3)
    if packed is not None and query is key and key is value:
        return _nn.linear(query, packed, bias).chunk(3, -1)
    weights = packed.chunk(3) if packed is not None else separate
    return tuple(_nn.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))


def _widen(mask):
    """The mask with a column of zeros for a key that was added."""
    return None if mask is None else _nn.pad(mask, (0, 1))


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
    dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
    use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None,
    static_v=None, average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """Attention over (length, batch, feature); gives the output, and the weights if they are needed."""
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_key else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, embed_dim = query.shape
    source = key.size(0)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    key_padding_mask = canonical_mask(key_padding_mask, "key_padding_mask", query.dtype, attn_mask, "attn_mask")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the fused kernel masks by itself
    else:
        attn_mask = canonical_mask(attn_mask, "attn_mask", query.dtype, check_other=False)
        is_causal = is_causal and key_padding_mask is None
    if embed_dim != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    head_dim = embed_dim // num_heads
    if head_dim * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")

    packed = None if use_separate_proj_weight else in_proj_weight
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    q, k, v = _project(query, key, value, packed, separate, in_proj_bias)

    if attn_mask is not None:
        if attn_mask.dim() == 2:
            attn_mask = attn_mask.unsqueeze(0)
        expected = (attn_mask.size(0), length, source)
        if tuple(attn_mask.shape) != expected or attn_mask.size(0) not in (1, batch * num_heads):
            raise RuntimeError(
                f"The shape of the attn_mask is {attn_mask.shape}, but should be {(batch * num_heads, length, source)} "
                f"or {(length, source)}."
            )
    if bias_k is not None and bias_v is not None:
        k = vivace.cat([k, bias_k.repeat(1, batch, 1)])
        v = vivace.cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = _widen(attn_mask), _widen(key_padding_mask)

    def heads(x):
        return x.reshape(x.size(0), batch * num_heads, head_dim).transpose(0, 1)

    q = heads(q)
    k = heads(k) if static_k is None else static_k
    v = heads(v) if static_v is None else static_v
    if add_zero_attn:
        k = vivace.cat([k, k.new_zeros((batch * num_heads, 1, head_dim))], 1)
        v = vivace.cat([v, v.new_zeros((batch * num_heads, 1, head_dim))], 1)
        attn_mask, key_padding_mask = _widen(attn_mask), _widen(key_padding_mask)
    source = k.size(1)
    if key_padding_mask is not None:
        if tuple(key_padding_mask.shape) != (batch, source):
            raise AssertionError(
                f"expecting key_padding_mask shape of {(batch, source)}, but got {key_padding_mask.shape}"
            )
        padding = key_padding_mask.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1)
        padding = padding.reshape(batch * num_heads, 1, source)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    dropout_p = dropout_p if training else 0.0

    if need_weights:
        scores = (q * math.sqrt(1.0 / head_dim)) @ k.transpose(-2, -1)
        weights = (scores if attn_mask is None else scores + attn_mask).softmax(-1)
        if dropout_p > 0.0:
            weights = _nn.dropout(weights, p=dropout_p)
        output = (weights @ v).transpose(0, 1).reshape(length, batch, embed_dim)
        output = _nn.linear(output, out_proj_weight, out_proj_bias)
        weights = weights.view(batch, num_heads, length, source)
        if average_attn_weights:
            weights = weights.mean(1)
        return (output, weights) if batched else (output.squeeze(1), weights.squeeze(0))

    if attn_mask is not None:
        alone = attn_mask.size(0) == 1
        attn_mask = attn_mask.unsqueeze(0) if alone else attn_mask.view(batch, num_heads, -1, source)
    q, k, v = (x.view(batch, num_heads, -1, head_dim) for x in (q, k, v))
    output = _nn.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    output = output.permute(2, 0, 1, 3).reshape(length, batch, embed_dim)
    output = _nn.linear(output, out_proj_weight, out_proj_bias)
    return (output if batched else output.squeeze(1)), None
