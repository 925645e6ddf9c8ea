"""Functions of dfc inside PyTorch: their gradients are those of the graph.

    program = dfc.compile(source, export=["loss", "gradLoss"])
    loss = dfc.torch.function(program.loss, program.gradLoss)
    loss(weight, x).backward()

The gradient's entry takes what the value's entry takes, and behind it, where `seed` says so, the cotangent of the value. It gives the gradients of the
arguments, or of those that `wrt` names: one, or a tuple of them. docs/python.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy
import torch

__all__ = ["function", "Module"]


def _as_input(value: Any) -> Any:
    """Tensors without their history, on the host; what is no tensor as it is. The elements are not copied if they are there."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
        if value.device.type != "cpu":
            value = value.cpu()
        return value.contiguous().numpy() if value.dim() else value.item()
    return value


def _as_tensor(value: Any, like: torch.Tensor | None) -> torch.Tensor:
    """A copy: PyTorch has no tensors that must not be written to, and others may look at the result. Numbers are of the type of `like`."""
    if isinstance(value, numpy.ndarray):
        tensor = torch.from_numpy(numpy.array(value))
    elif like is None:
        tensor = torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)
    else:
        tensor = torch.tensor(value, dtype=like.dtype if isinstance(value, float) else None)
    return tensor if like is None else tensor.to(like.device)


class _First(torch.autograd.Function):
    """Gradients that depend on `through`, in a way that has no derivative here. Without it they would pass for constants."""

    @staticmethod
    def forward(ctx, name, count, *tensors):
        ctx.name = name
        return tuple(gradient.view_as(gradient) for gradient in tensors[:count])

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError("%s: a graph in PyTorch has first derivatives only: a gradient of its gradient is asked for" % ctx.name)


def function(value: Callable, gradient: Callable, *, wrt: Sequence[str] | None = None, seed: bool | None = None) -> Callable:
    """A function of PyTorch's tensors whose value is `value`'s and whose gradient `gradient`'s.

    value     a function of dfc whose result is a Double, a Float, or a tensor of them
    gradient  of the same arguments; with `seed`, and behind them the cotangent of the result, which a result that is no number needs. By
              default whether it has one parameter more says it. Its result is the gradient of each parameter that `wrt` names, in their order, a
              tuple if they are several
    wrt       names of parameters; by default all that have tensors of floats, or numbers of them
    """
    names = list(inspect.signature(value).parameters)
    extra = len(inspect.signature(gradient).parameters) - len(names)
    if seed is None:
        seed = extra == 1
    if extra != int(seed):
        raise TypeError("%s takes %d arguments, and its gradient %s %d" % (value.__name__, len(names), gradient.__name__, len(names) + extra))
    if wrt is None:
        annotations = [p.annotation for p in inspect.signature(value).parameters.values()]
        wrt = [name for name, kind in zip(names, annotations) if kind in ("float", "numpy.ndarray")]
    places = [names.index(name) for name in wrt]
    name = value.__name__

    class Graph(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            inputs = [_as_input(arg) for arg in args]
            tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
            result = _as_tensor(value(*inputs), next((t for t in tensors if t.is_floating_point()), None))
            ctx.save_for_backward(*tensors)
            ctx.others = [None if isinstance(arg, torch.Tensor) else (arg,) for arg in args]
            return result

        @staticmethod
        def backward(ctx, cotangent):
            tensors = iter(ctx.saved_tensors)
            args = [next(tensors) if other is None else other[0] for other in ctx.others]
            wanted = [place for place in places if isinstance(args[place], torch.Tensor) and ctx.needs_input_grad[place]]
            out: list[Any] = [None] * len(args)
            if not wanted:
                return tuple(out)
            with torch.no_grad():
                inputs = [_as_input(arg) for arg in args]
                got = gradient(*inputs, _as_input(cotangent)) if seed else gradient(*inputs)
                parts = (got,) if len(places) == 1 else tuple(got)
                if len(parts) != len(places):
                    raise RuntimeError("%s gives %d gradients, and %d are asked for" % (gradient.__name__, len(parts), len(places)))
                for place, part in zip(places, parts):
                    if place in wanted:
                        made = _as_tensor(part, args[place])
                        out[place] = made if seed else made * cotangent.to(made)
            if torch.is_grad_enabled():  # create_graph
                through = [arg for arg in args if isinstance(arg, torch.Tensor)] + [cotangent]
                for place, made in zip(wanted, _First.apply(name, len(wanted), *[out[place] for place in wanted], *through)):
                    out[place] = made
            return tuple(out)

    def call(*args, **named):
        return Graph.apply(*(inspect.signature(value).bind(*args, **named).arguments[n] for n in names)) if named else Graph.apply(*args)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = value.__doc__
    call.__signature__ = inspect.signature(value)
    return call


class Module(torch.nn.Module):
    """A pair of functions with parameters: `parameters` are the first arguments of each call, by the names of the entry's parameters.

    Module(program.loss, program.gradLoss, weight=torch.randn(3, 3), bias=torch.zeros(3))(x)
    """

    def __init__(self, value: Callable, gradient: Callable, *, seed: bool | None = None, wrt: Iterable[str] | None = None, **parameters: torch.Tensor):
        super().__init__()
        names = list(inspect.signature(value).parameters)
        self._order = [name for name in names if name in parameters]
        if unknown := set(parameters) - set(names):
            raise TypeError("%s has no parameter %s" % (value.__name__, ", ".join(sorted(unknown))))
        if self._order != names[: len(self._order)]:
            raise TypeError("parameters of the module are the first ones of %s" % value.__name__)
        for name in self._order:
            self.register_parameter(name, torch.nn.Parameter(parameters[name]))
        self._function = function(value, gradient, wrt=None if wrt is None else list(wrt), seed=seed)

    def forward(self, *args):
        return self._function(*(getattr(self, name) for name in self._order), *args)
