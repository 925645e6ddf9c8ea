"""Graphs inside JAX: values, gradients, under jit and vmap."""

import dfc
import numpy
import pytest

jax = pytest.importorskip("jax")
import dfc.jax  # noqa: E402

SOURCE = """
import Gradient (grad, vjp)
import qualified Tensor as T

layer :: Tensor Float [2, 3] -> Tensor Float [2] -> Tensor Float [3]
layer w x = tanh (T.vecmat x w)

backLayer :: Tensor Float [2, 3] -> Tensor Float [2] -> Tensor Float [3] -> (Tensor Float [2, 3], Tensor Float [2])
backLayer w x g = snd (vjp (\\(w', x') -> layer w' x') (w, x) g)

half :: Float -> Float -> Float
half x n = if n == 0 then error "none" else x / n

gradHalf :: Float -> Float -> Float
gradHalf x n = grad (\\x' -> half x' n) x
"""


@pytest.fixture(scope="module")
def functions():
    program = dfc.compile(SOURCE, export="layer backLayer half gradHalf".split())
    return (dfc.jax.function(program.layer, program.backLayer, result=((3,), "float32")),
            dfc.jax.function(program.half, program.gradHalf, result=((), "float32"), wrt=["x"]))


def own(w, x):
    return jax.numpy.tanh(x @ w)


def test_layer(functions):
    layer, _ = functions
    key = jax.random.PRNGKey(0)
    w, x = jax.random.normal(key, (2, 3)), jax.random.normal(key, (2,))
    assert numpy.allclose(layer(w, x), own(w, x), atol=1e-6) and numpy.allclose(jax.jit(layer)(w, x), own(w, x), atol=1e-6)
    for wrap in (lambda f: f, jax.jit):
        got = wrap(jax.grad(lambda w, x: (layer(w, x) ** 2).sum(), argnums=(0, 1)))(w, x)
        wanted = jax.grad(lambda w, x: (own(w, x) ** 2).sum(), argnums=(0, 1))(w, x)
        assert all(numpy.allclose(a, b, atol=1e-5) for a, b in zip(got, wanted))
    xs = jax.random.normal(key, (5, 2))
    assert numpy.allclose(jax.vmap(layer, (None, 0))(w, xs), own(w, xs), atol=1e-6)
    got = jax.grad(lambda w: jax.vmap(layer, (None, 0))(w, xs).sum())(w)
    assert numpy.allclose(got, jax.grad(lambda w: own(w, xs).sum())(w), atol=1e-5)


def test_numbers(functions):
    _, half = functions
    assert half(3.0, 2.0) == 1.5 and jax.grad(lambda x: half(x, 2.0) * 5)(3.0) == 2.5
    with pytest.raises(Exception, match="none"):
        jax.block_until_ready(half(3.0, 0.0))
    with pytest.raises(Exception):  # no second derivatives
        jax.grad(jax.grad(lambda x: half(x, 2.0) ** 2))(3.0)
