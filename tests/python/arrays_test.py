"""Tensors as arrays, without copies."""

import gc
import sys
import weakref

import dfc
import numpy
import pytest

SOURCE = """
import qualified Tensor as T

data Layer = Layer { weight :: Tensor Float [2, 3], bias :: Maybe (Tensor Float [3]), steps :: Int }
data Net = Net { layers :: [Layer], scale :: Double }

same :: Tensor Double [2, 3] -> Tensor Double [2, 3]
same t = t

negated :: Tensor Float [2, 3] -> Tensor Float [2, 3]
negated t = negate t

counts :: Tensor Int [4] -> Tensor Int [4]
counts t = t + t

flags :: Tensor Bool [2] -> Tensor Bool [2]
flags t = t

rows :: [Tensor Double [3]] -> Double
rows ts = sum (map T.sum ts)

net :: Net -> Net
net n = n { scale = scale n * 2 }

total :: Net -> Float
total n = sum [T.sum (weight l) + maybe 0 T.sum (bias l) | l <- layers n]

dot :: Tensor Double [3] -> Tensor Double [3] -> Double
dot a b = T.dot a b
"""


@pytest.fixture(scope="module")
def program():
    return dfc.compile(SOURCE, export="same negated counts flags rows net total dot".split())


def address(array):
    return array.__array_interface__["data"][0]


def test_without_copies(program):
    given = numpy.arange(6.0).reshape(2, 3)
    got = program.same(given)
    assert address(got) == address(given) and got.shape == (2, 3) and got.dtype == numpy.float64
    assert not got.flags.writeable
    alive = weakref.ref(given)
    del given
    gc.collect()
    assert alive() is not None and got.sum() == 15
    del got
    program.same(numpy.zeros((2, 3)))  # the run that waits has the result of its last call
    gc.collect()
    assert alive() is None


def test_results_stay(program):
    first = program.negated(numpy.full((2, 3), 1, "f4"))
    second = program.negated(numpy.full((2, 3), 2, "f4"))
    assert (first == -1).all() and (second == -2).all()


def test_layouts(program):
    wide = numpy.arange(24.0).reshape(4, 6)
    assert (program.same(wide[::2, ::2]) == wide[::2, ::2]).all()
    assert (program.same(numpy.asfortranarray(wide[:2, :3])) == wide[:2, :3]).all()
    assert (program.same(wide[1::-1, 2::-1]) == wide[1::-1, 2::-1]).all()
    assert (program.negated([[1, 2, 3], [4, 5, 6]]) == [[-1, -2, -3], [-4, -5, -6]]).all()
    assert (program.negated(numpy.ones((2, 3))) == -1).all()  # float64 to float32
    assert program.counts(numpy.arange(4)).tolist() == [0, 2, 4, 6]
    assert program.flags(numpy.array([True, False])).tolist() == [True, False]
    read_only = numpy.ones((2, 3))
    read_only.flags.writeable = False
    assert program.same(read_only).sum() == 6
    assert program.dot(numpy.arange(3.0), [1, 1, 2]) == 5.0


def test_refused(program):
    for wrong in (numpy.zeros((3, 2)), numpy.zeros(6), "abc", None, numpy.zeros((2, 3), complex), [[1, 2], [3]], numpy.zeros((2, 3), bool)):
        with pytest.raises(dfc.InputError, match="Tensor Double \\[2, 3\\]"):
            program.same(wrong)
    with pytest.raises(dfc.InputError):
        program.counts(numpy.array([0.5, 1, 2, 3]))


def test_structures(program):
    Layer, Net = program.types.Layer, program.types.Net
    weight = numpy.arange(6, dtype="f4").reshape(2, 3)
    net = Net([Layer(weight, None, 3), Layer(weight * 2, numpy.ones(3, "f4"), 4)], 0.5)
    assert program.total(net) == 48.0
    got = program.net(net)
    assert got.scale == 1.0 and got.layers[1].steps == 4 and got.layers[0].bias is None and (got.layers[1].weight == weight * 2).all()
    assert program.net(got).scale == 2.0
    assert got == Net(net.layers, 1.0) and got != net
    assert program.total(Net([], 1.0)) == 0.0
    assert program.total({"layers": [{"weight": weight, "bias": None, "steps": 1}], "scale": 1.0}) == 15.0
    assert program.rows([numpy.ones(3), numpy.arange(3.0)]) == 6.0
    assert program.rows(numpy.ones((5, 3))) == 15.0 and program.rows([]) == 0.0
    assert program.rows(iter(numpy.ones((4, 3)))) == 12.0


def test_torch(program):
    torch = pytest.importorskip("torch")
    given = torch.arange(6, dtype=torch.float64).reshape(2, 3)
    got = program.same(given)
    assert address(got) == given.data_ptr()
    assert (program.same(given.T.reshape(3, 2).T) == given.T.reshape(3, 2).T.numpy()).all()
    back = torch.from_dlpack(numpy.array(program.negated(torch.ones(2, 3))))
    assert back.tolist() == [[-1.0] * 3] * 2


def test_no_leaks(program):
    given = numpy.zeros((2, 3))
    program.same(given)
    program.same(numpy.zeros((2, 3)))
    count = sys.getrefcount(given)
    for _ in range(100):
        program.same(given)
    program.same(numpy.zeros((2, 3)))
    assert sys.getrefcount(given) == count
