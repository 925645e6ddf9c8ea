"""Values of the language as Python values and back."""

import dataclasses
import inspect

import dfc
import numpy
import pytest

VALUES = """
import Data.Text (Text)

data Colour = Red | Green | Blue
data Shape = Circle Double | Box { width :: Double, height :: Double } | Empty
data Tree = Leaf Int | Node Tree Tree
data Point = Point { x :: Int, y' :: Maybe Int }

int :: Int -> Int
int n = n

integer :: Integer -> Integer
integer n = n

double :: Double -> Double
double n = n

float :: Float -> Float
float n = n

bool :: Bool -> Bool
bool b = not b

char :: Char -> Char
char c = c

string :: String -> String
string s = reverse s

text :: Text -> Text
text t = t

unit :: () -> ()
unit u = u

tuple :: (Int, (Double, Char), String) -> (String, (Double, Char), Int)
tuple (a, b, c) = (c, b, a)

list :: [Int] -> [Int]
list = reverse

doubles :: [Double] -> [Double]
doubles = map (* 2)

floats :: [Float] -> Float
floats = sum

integers :: [Integer] -> Integer
integers = product

lists :: [[Int]] -> [String] -> ([[Int]], [String])
lists a b = (reverse a, reverse b)

maybe1 :: Maybe Int -> Maybe Int
maybe1 m = m

maybe2 :: Maybe (Maybe Int) -> Maybe (Maybe Int)
maybe2 m = m

maybes :: [Maybe (Maybe Int)] -> [Maybe (Maybe Int)]
maybes m = m

colour :: Colour -> Colour
colour c = c

shape :: Shape -> Shape
shape s = s

tree :: Tree -> Tree
tree (Leaf n) = Leaf (n + 1)
tree (Node l r) = Node (tree r) (tree l)

point :: Point -> Point
point p = p { x = x p + 1 }

optional :: Int -> Maybe Int -> Int
optional a (Just b) = a + b
optional a Nothing = a
"""
ENTRIES = [line.split(" ::")[0] for line in VALUES.splitlines() if " :: " in line and not line.startswith("data")]


@pytest.fixture(scope="module")
def program():
    return dfc.compile(VALUES, export=ENTRIES)


@pytest.mark.parametrize("name, given", [
    ("int", 5), ("int", -(2**63)), ("int", 2**63 - 1), ("integer", 7), ("integer", -(2**63) - 1), ("integer", 3**20000), ("integer", -(7**5000)),
    ("double", 1.5), ("double", -0.0), ("double", 1e-320), ("double", float("inf")), ("double", 0.1), ("float", 0.5),
    ("char", "a"), ("char", "'"), ("char", "\\"), ("char", "\n"), ("char", "\u00e9"), ("char", "\U0001f600"),
    ("text", "a\"b\\\n\u00e9\U0001f600 1"), ("text", ""), ("unit", ()),
    ("maybe1", None), ("maybe1", 3), ("maybe2", None), ("maybe2", ("Just", None)), ("maybe2", ("Just", -3)),
    ("maybes", [None, ("Just", None), ("Just", 1)]), ("maybes", []),
    ("colour", ("Green",)), ("shape", ("Circle", -1.5)), ("shape", ("Empty",)),
], ids=lambda given: "long" if isinstance(given, int) and abs(given) > 2**64 else None)
def test_same(program, name, given):
    got = getattr(program, name)(given)
    assert got == given and type(got) is type(given)


def test_others(program):
    assert program.bool(True) is False
    assert program.string("ab\u00e9\"\\") == "\\\"\u00e9ba"
    assert program.string("") == ""
    assert program.tuple((1, (2.5, "c"), "xyz")) == ("xyz", (2.5, "c"), 1)
    assert program.list([1, -2, 3]) == [3, -2, 1] and program.list([]) == [] and program.list(range(3)) == [2, 1, 0]
    assert program.list(numpy.arange(4)) == [3, 2, 1, 0]
    assert program.doubles([1, 2.5]) == [2.0, 5.0] and program.doubles(numpy.array([1, 2], "f4")) == [2.0, 4.0]
    assert program.floats([0.5, 0.25]) == 0.75
    assert program.integers([2**70, 3, -1]) == -3 * 2**70
    assert program.lists([[1], [], [2, 3]], ["a", "\U0001f600"]) == ([[2, 3], [], [1]], ["\U0001f600", "a"])
    assert program.colour("Blue") == ("Blue",)
    assert numpy.isnan(program.double(float("nan")))
    assert program.double(2) == 2.0 and program.double(numpy.float32(0.5)) == 0.5 and program.int(numpy.int32(4)) == 4
    assert program.bool(numpy.True_) is False


def test_records(program):
    Point, Box = program.types.Point, program.types.Box
    got = program.point(Point(1, 2))
    assert dataclasses.is_dataclass(got) and got == Point(2, 2) and got.x == 2 and got.y_ == 2
    assert program.point({"x": 1, "y_": None}) == Point(2, None)
    assert program.shape(Box(1.0, 2.0)) == Box(width=1.0, height=2.0)
    assert repr(program.shape(Box(1.0, 2.0))) == "Box(width=1.0, height=2.0)"


def test_trees(program):
    assert program.tree(("Node", ("Leaf", 1), ("Node", ("Leaf", -2), ("Leaf", 3)))) == ("Node", ("Node", ("Leaf", 4), ("Leaf", -1)), ("Leaf", 2))


def test_iterators():
    program = dfc.compile("""
data Item = Item { weight :: Double, name :: String }
total :: [Item] -> Double
total items = sum (map weight items)
firsts :: Int -> [Int] -> Int
firsts n items = sum (take n items)
""", export=["total", "firsts"])
    Item = program.types.Item
    assert program.total(Item(float(i), "n") for i in range(100)) == 4950.0
    asked = []

    def numbers():
        for i in range(1000):
            asked.append(i)
            yield i

    assert program.firsts(3, numbers()) == 3 and len(asked) < 10

    def broken():
        yield 1
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        program.firsts(5, broken())
    with pytest.raises(dfc.InputError, match="an element of firsts: the input `items` is of type `Int`"):
        program.firsts(5, iter(["a"]))
    assert program.firsts(5, iter([1, 2])) == 3


def test_signatures(program):
    assert program.optional.__name__ == "optional"
    assert program.optional.__doc__ == "optional :: Int -> Maybe Int -> Int"
    assert str(inspect.signature(program.optional)) == "(a: 'int', arg2: 'int | None' = None) -> 'int'"
    assert program.optional(1) == 1 and program.optional(1, 2) == 3 and program.optional(arg2=5, a=1) == 6
    assert inspect.signature(program.tuple).return_annotation == "tuple[str, tuple[float, str], int]"
    assert inspect.signature(program.point).return_annotation == "Point"
    for wrong in (lambda: program.optional(), lambda: program.optional(1, 2, 3), lambda: program.optional(1, b=3), lambda: program.optional(1, a=3)):
        with pytest.raises(TypeError):
            wrong()
    assert "optional :: Int" in repr(program)


@pytest.mark.parametrize("name, given", [
    ("int", 1.5), ("int", "1"), ("int", None), ("int", 2**63), ("integer", 1.0), ("double", "1"), ("double", [1.0]), ("bool", 1), ("char", "ab"),
    ("char", 1), ("text", 1), ("tuple", (1, 2)), ("list", "ab"), ("list", 1), ("list", [1, "a"]), ("list", [1.5]), ("list", numpy.array([1.5])),
    ("list", [2**63]), ("colour", ("Pink",)), ("colour", 3), ("shape", ("Circle",)), ("shape", ("Circle", "a")), ("tree", ("Leaf", 1.5)),
    ("point", {"x": 1}), ("maybe2", 3), ("lists", 3),
])
def test_refused(program, name, given):
    with pytest.raises((dfc.InputError, TypeError)) as raised:
        getattr(program, name)(given)
    assert isinstance(raised.value, dfc.InputError) or name == "lists"
    assert name == "lists" or "the input `" in str(raised.value)


def test_main(tmp_path):
    program = dfc.compile("main :: Int -> Int\nmain n = product [1 .. n]\n")
    assert program(5) == program.main(n=5) == 120
    program.save(tmp_path / "m.graph")
    again = dfc.load(tmp_path / "m.graph", threads=1)
    assert again(5) == 120 and bytes(again) == bytes(program)
    import copy
    import pickle
    assert pickle.loads(pickle.dumps(program))(4) == 24 and copy.deepcopy(program)(3) == 6
    source = tmp_path / "s.df"
    source.write_text("main = 1 + 1\n")
    assert dfc.compile(path=source)() == 2
