"""Arithmetic in one precision: every sum strictly from left to right, one rounding a step, no BLAS, no pairwise sums.

In float64 this gives the exact answer of the goldens; in float32 it is the scalar evaluation whose error says what a
kernel may lose. Only +, -, *, / and the square root are used, which IEEE 754 rounds correctly, so the results are the
same bits on every machine. exp, erf and tanh are built from them in double and rounded once to the requested precision.
"""

import functools

import numpy as np

LN2 = float.fromhex("0x1.62e42fefa39efp-1")
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # few bits, so that a multiple by a small integer is exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
TWO_OVER_SQRT_PI = float.fromhex("0x1.20dd750429b6dp+0")


def dot(x, y):
    """[..., n, I] and [..., m, I] to [..., n, m]: the sum over I."""
    lefts, rights = (np.ascontiguousarray(np.moveaxis(operand, -1, 0)) for operand in (x, y))
    result = lefts[0][..., :, None] * rights[0][..., None, :]
    for left, right in zip(lefts[1:], rights[1:]):
        result += left[..., :, None] * right[..., None, :]
    return result


def total(x):
    """The sum over the last axis, which is dropped."""
    return np.add.accumulate(x, axis=-1)[..., -1]


def linear(x, weight, bias=None):
    """y = x W^T + b, weight [out, in]."""
    y = dot(x, weight)
    return y if bias is None else y + bias


def layer_norm(x, gamma, beta, eps):
    """Biased variance, eps inside the root."""
    size = x.dtype.type(x.shape[-1])
    centred = x - (total(x) / size)[..., None]
    variance = total(centred * centred) / size
    return centred / np.sqrt(variance + x.dtype.type(eps))[..., None] * gamma + beta


def masked_softmax(scores, allowed):
    """Over the last axis. Masked entries are exactly 0; a fully masked row is all 0."""
    highest = np.where(allowed, scores, -np.inf).max(axis=-1, keepdims=True)
    highest = np.where(np.isfinite(highest), highest, 0).astype(scores.dtype)
    powers = np.where(allowed, exp(np.where(allowed, scores - highest, 0)), 0).astype(scores.dtype)
    sums = total(powers)[..., None]
    return powers / np.where(sums > 0, sums, 1).astype(scores.dtype)


def rounded_once(function):
    """The function in double, its result in the precision of the argument."""

    @functools.wraps(function)
    def in_own_precision(x):
        return function(np.asarray(x, np.float64)).astype(x.dtype)

    return in_own_precision


def _scaled_expm1(x):
    """k and expm1(r) with exp(x) = 2^k exp(r), |r| <= ln(2) / 2."""
    k = np.rint(x / LN2)
    r = x - k * LN2_HIGH - k * LN2_LOW
    series = np.ones_like(r)
    for n in range(16, 1, -1):  # expm1(r) = r (1 + r/2 (1 + r/3 (1 + ...)))
        series = 1 + r / n * series
    return k.astype(np.int64), r * series


@rounded_once
def exp(x):
    k, expm1 = _scaled_expm1(np.clip(x, -745.0, 709.0))
    return np.ldexp(1 + expm1, k)


@rounded_once
def tanh(x):
    k, expm1 = _scaled_expm1(np.clip(2 * np.abs(x), 0, 80.0))
    expm1 = np.where(k == 0, expm1, np.ldexp(1 + expm1, k) - 1)
    return np.sign(x) * (expm1 / (expm1 + 2))


@rounded_once
def erf(x):
    """2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!: all terms have one sign, so nothing cancels."""
    z = np.clip(x, -6.0, 6.0)  # beyond that, the result is 1 to the last bit of a double
    term = z
    result = z
    for n in range(1, 150):
        term = term * (2 * z * z / (2 * n + 1))
        result = result + term
    return TWO_OVER_SQRT_PI * (exp(-z * z) * result)


def sigmoid(x):
    return 1 / (1 + exp(-x))


def gelu(x):
    """The erf form, never tanh."""
    return x.dtype.type(0.5) * x * (1 + erf(x / np.sqrt(x.dtype.type(2))))


ACTIVATIONS = {
    "gelu": gelu,
    "relu": lambda x: np.maximum(x, 0),
    "swish": lambda x: x * sigmoid(x),
    "tanh": tanh,
    "linear": lambda x: x,
    "sigmoid": sigmoid,
}
