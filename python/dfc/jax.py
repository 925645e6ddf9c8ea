"""Functions of dfc inside JAX: under jit, grad and vmap.

    program = dfc.compile(source, export=["layer", "backLayer"])
    layer = dfc.jax.function(program.layer, program.backLayer, result=((3,), "float32"))
    jax.grad(lambda w: layer(w, x).sum())(w)

The pair of entries is that of dfc.torch. The graph is called by the host; under vmap once for each element of the batch. docs/python.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy

__all__ = ["function"]


def function(value: Callable, gradient: Callable, *, result: tuple[Sequence[int], Any], wrt: Sequence[str] | None = None) -> Callable:
    """A function of arrays of JAX whose value is `value`'s and whose gradient `gradient`'s.

    value     a function of dfc whose arguments and result are numbers or tensors
    gradient  of the same arguments, and behind them, if it has one parameter more, the cotangent of the result. Its result is the gradient of each
              parameter that `wrt` names, a tuple if they are several
    result    shape and element type of the value: a graph does not say the shape of its tensors to Python
    wrt       names of parameters; by default all
    """
    names = list(inspect.signature(value).parameters)
    extra = len(inspect.signature(gradient).parameters) - len(names)
    if extra not in (0, 1):
        raise TypeError("%s takes %d arguments, and its gradient %s %d" % (value.__name__, len(names), gradient.__name__, len(names) + extra))
    wanted = [names.index(name) for name in (names if wrt is None else wrt)]
    shape = jax.ShapeDtypeStruct(tuple(result[0]), numpy.dtype(result[1]))

    def host(array):
        array = numpy.asarray(array)
        return array if array.ndim else array.item()

    def run(*args):
        return numpy.asarray(value(*map(host, args)), shape.dtype)

    def run_back(cotangent, *args):
        inputs = list(map(host, args))
        got = gradient(*inputs, host(cotangent)) if extra else gradient(*inputs)
        parts = (got,) if len(wanted) == 1 else got
        if len(parts) != len(wanted):
            raise RuntimeError("%s gives %d gradients, and %d are asked for" % (gradient.__name__, len(parts), len(wanted)))
        scale = 1 if extra else host(cotangent)
        return tuple(numpy.asarray(part * scale, numpy.asarray(args[place]).dtype) for place, part in zip(wanted, parts))

    @jax.custom_vjp
    def call(*args):
        return jax.pure_callback(run, shape, *args, vmap_method="sequential")

    def forward(*args):
        return call(*args), args

    def backward(args, cotangent):
        shapes = tuple(jax.ShapeDtypeStruct(args[place].shape, args[place].dtype) for place in wanted)
        made = dict(zip(wanted, jax.pure_callback(run_back, shapes, cotangent, *args, vmap_method="sequential")))
        return tuple(made[place] if place in made else jax.numpy.zeros_like(arg) for place, arg in enumerate(args))

    call.defvjp(forward, backward)

    def checked(*args):
        return call(*map(jax.numpy.asarray, args))

    checked.__name__ = checked.__qualname__ = value.__name__
    checked.__doc__ = value.__doc__
    return checked
