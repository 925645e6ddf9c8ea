"""What the extension module asks of Python: classes of records, arrays, long integers, names."""

from __future__ import annotations

import dataclasses
import functools
import keyword
import typing

import numpy


class Progress(typing.NamedTuple):
    """How far a call of a graph has come: seconds since it began; a count that grows while it computes; how many elements of iterators it asked for."""

    seconds: float
    steps: int
    elements: int


def python_name(name: str) -> str:
    """A name of the language as one of Python: x' is x_."""
    name = name.replace("'", "_")
    return name + "_" if keyword.iskeyword(name) else name


def record_class(name: str, fields: list[str], types: list[str]):
    """The class of a record's values, and the names of its attributes, in the order of the fields. Programs share it, so that values of one are values of
    another, in this process or one that they were sent to."""
    return _record_class(name, tuple(fields), tuple(types))


@functools.lru_cache(maxsize=None)
def _record_class(name: str, fields: tuple[str, ...], types: tuple[str, ...]):
    attributes = []
    for field in fields:
        attribute = python_name(field)
        while attribute in attributes:
            attribute += "_"
        attributes.append(attribute)
    made = dataclasses.make_dataclass(name, list(zip(attributes, types)), eq=False,
                                      namespace={"__eq__": _equal, "__hash__": None, "__reduce__": lambda value: (_record, (name, fields, types, *map(value.__getattribute__, attributes)))})
    made.__module__ = "dfc.types"
    made.__doc__ = "%s { %s }" % (name, ", ".join("%s :: %s" % pair for pair in zip(fields, types)))
    return made, attributes


def _record(name, fields, types, *values):
    """A record that was pickled."""
    return _record_class(name, fields, types)[0](*values)


def _same(a, b) -> bool:
    if isinstance(a, numpy.ndarray) or isinstance(b, numpy.ndarray):
        return numpy.array_equal(a, b)
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


def _equal(self, other):
    """As of a dataclass, with arrays equal if all their elements are."""
    if type(self) is not type(other):
        return NotImplemented
    return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in dataclasses.fields(self))


def make_array(value, dtype: str) -> numpy.ndarray:
    """Without a copy where the elements are of that type already. Numbers are converted where that is what numpy calls the same kind."""
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        value = value.numpy()
    array = numpy.asarray(value)
    if array.dtype == dtype:
        return array
    if array.dtype.kind not in "biuf" or (array.dtype.kind == "b") != (dtype == "bool"):
        raise TypeError("an array of `%s` is no array of `%s`" % (array.dtype, dtype))
    if array.dtype == "uint64" and dtype == "int64" and array.size and array.max() >= 2**63:
        raise ValueError("a number has more than 64 bits")
    return array.astype(dtype, casting="same_kind")


def as_lists(value, dtype: str):
    return make_array(value, dtype).tolist()


def long_integer(numeral: str) -> int:
    """Python reads no numeral of more than some thousand digits at once."""
    if len(numeral) <= 4000:
        return int(numeral)
    if numeral.startswith("-"):
        return -long_integer(numeral[1:])
    half = len(numeral) // 2
    return long_integer(numeral[:-half]) * 10**half + long_integer(numeral[-half:])
