"""The function of the package flash_attn that amago's FlashAttention calls while it plays, in plain PyTorch."""

import math

import torch


def attention_with_cache(q, k_cache, v_cache, k, v, cache_seqlens, causal=True, window_size=(-1, -1)):
    """Return what flash_attn_with_kvcache of flash_attn returns for one new step of each row; adds it to the cache.

    q, k, v: [rows, 1, heads, width]. k_cache, v_cache: [rows, length, heads, width]. cache_seqlens: steps before it, [rows].
    """
    rows, last = torch.arange(len(q), device=q.device), cache_seqlens.long()
    k_cache[rows, last], v_cache[rows, last] = k[:, 0].to(k_cache.dtype), v[:, 0].to(v_cache.dtype)
    step = torch.arange(k_cache.shape[1], device=q.device)
    seen = step <= last[:, None]
    if window_size[0] >= 0:
        seen &= step >= last[:, None] - window_size[0]
    keys, values = (torch.where(seen[..., None, None], part, 0).float() for part in (k_cache, v_cache))
    scores = torch.einsum("bhe,blhe->bhl", q[:, 0].float(), keys) / math.sqrt(q.shape[-1])
    shares = scores.masked_fill(~seen[:, None], -math.inf).softmax(-1)
    return torch.einsum("bhl,blhe->bhe", shares, values).unsqueeze(1).to(q.dtype)
