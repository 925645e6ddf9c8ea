"""Graphs inside PyTorch: values, gradients, modules."""

import dfc
import pytest

torch = pytest.importorskip("torch")
import dfc.torch  # noqa: E402

SOURCE = """
import Gradient (grad, vjp)
import qualified Tensor as T

data Tree = Leaf Int | Node Tree Tree

loss :: Tensor Double [2, 3] -> Tensor Double [2] -> Double -> Double
loss w x s = T.sum (tanh (T.vecmat x w)) * s

gradLoss :: Tensor Double [2, 3] -> Tensor Double [2] -> Double -> (Tensor Double [2, 3], Tensor Double [2], Double)
gradLoss w x s = grad (\\(w', x', s') -> loss w' x' s') (w, x, s)

layer :: Tensor Double [2, 3] -> Tensor Double [2] -> Tensor Double [3]
layer w x = tanh (T.vecmat x w)

backLayer :: Tensor Double [2, 3] -> Tensor Double [2] -> Tensor Double [3] -> (Tensor Double [2, 3], Tensor Double [2])
backLayer w x g = snd (vjp (\\(w', x') -> layer w' x') (w, x) g)

encode :: Tensor Float [4, 2] -> Tree -> Tensor Float [2]
encode w (Leaf n) = T.index w n
encode w (Node l r) = tanh (encode w l * encode w r)

backEncode :: Tensor Float [4, 2] -> Tree -> Tensor Float [2] -> Tensor Float [4, 2]
backEncode w t g = snd (vjp (\\w' -> encode w' t) w g)

half :: Double -> Int -> Double
half x n = if n == 0 then error "none" else x / fromIntegral n

gradHalf :: Double -> Int -> Double
gradHalf x n = grad (\\x' -> half x' n) x
"""


@pytest.fixture(scope="module")
def program():
    return dfc.compile(SOURCE, export="loss gradLoss layer backLayer encode backEncode half gradHalf".split())


def given(*shapes):
    torch.manual_seed(1)
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def test_gradcheck(program):
    loss = dfc.torch.function(program.loss, program.gradLoss)
    w, x, s = given((2, 3), (2,), ())
    assert torch.autograd.gradcheck(loss, (w, x, s))
    assert torch.allclose(loss(w, x, s), (torch.tanh(x @ w).sum() * s))
    layer = dfc.torch.function(program.layer, program.backLayer)
    assert torch.autograd.gradcheck(layer, (w, x))
    assert torch.autograd.gradcheck(lambda w: layer(w, x.detach()).exp(), (w,))
    assert torch.autograd.gradcheck(lambda w: layer(w.T, x), (w.detach().T.clone().requires_grad_(),))


def test_numbers(program):
    half = dfc.torch.function(program.half, program.gradHalf, wrt=["x"])
    x = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    (half(x, 2) * 5).backward()
    assert x.grad.item() == 2.5 and half(3.0, 2).item() == 1.5 and half(n=2, x=x).item() == 1.5
    with pytest.raises(dfc.errors.UserError, match="none"):
        half(x, 0)


def test_trees(program):
    encode = dfc.torch.function(program.encode, program.backEncode)
    w = torch.rand(4, 2, requires_grad=True)
    tree = ("Node", ("Leaf", 0), ("Node", ("Leaf", 1), ("Leaf", 0)))
    encode(w, tree).sum().backward()
    own = w.detach().clone().requires_grad_()
    torch.tanh(own[0] * torch.tanh(own[1] * own[0])).sum().backward()
    assert torch.allclose(w.grad, own.grad) and w.grad.dtype == torch.float32


def test_second_derivatives_are_refused(program):
    loss = dfc.torch.function(program.loss, program.gradLoss)
    w, x, s = given((2, 3), (2,), ())
    (first,) = torch.autograd.grad(loss(w, x, s), w, create_graph=True)
    with pytest.raises(RuntimeError, match="loss: a graph in PyTorch has first derivatives only"):
        (loss(w, x, s) + first.pow(2).sum()).backward()


def test_wrong_pairs(program):
    with pytest.raises(TypeError, match="takes 3 arguments"):
        dfc.torch.function(program.loss, program.backLayer.__class__ and program.half)
    with pytest.raises(RuntimeError, match="gradients"):
        w, x, s = given((2, 3), (2,), ())
        dfc.torch.function(program.loss, program.gradLoss, wrt=["w", "x"])(w, x, s).backward()


def test_module(program):
    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.graph = dfc.torch.Module(program.layer, program.backLayer, w=torch.randn(2, 3, dtype=torch.float64))
            self.head = torch.nn.Linear(3, 1, dtype=torch.float64)

        def forward(self, x):
            return self.head(self.graph(x))

    torch.manual_seed(0)
    model = Two()
    assert {name for name, _ in model.named_parameters()} == {"graph.w", "head.weight", "head.bias"}
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    x = torch.tensor([0.5, -1.0], dtype=torch.float64)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = (model(x) - 2).pow(2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10
    with pytest.raises(TypeError, match="no parameter v"):
        dfc.torch.Module(program.layer, program.backLayer, v=torch.zeros(1))
    with pytest.raises(TypeError, match="first ones"):
        dfc.torch.Module(program.layer, program.backLayer, x=torch.zeros(2))
