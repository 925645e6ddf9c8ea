"""The types of the model's programs, inferred by unification; and values as `show` prints them."""

# ---------------------------------------------------------------- types, by unification

class Var:
    """A type that is not known yet; `number` if it is some number type."""
    def __init__(self, number=False):
        self.to, self.number = None, number


def prune(t):
    while isinstance(t, Var) and t.to is not None:
        t = t.to
    return t


def unify(a, b):
    a, b = prune(a), prune(b)
    if a is b:
        return
    if isinstance(b, Var) and not (isinstance(a, Var) and b.number):
        a, b = b, a
    if isinstance(a, Var):
        if a.number and isinstance(b, Var):
            b.number = True
        assert not a.number or isinstance(b, Var) or b in ('Int', 'Double'), b
        a.to = b
        return
    if isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0] and len(a) == len(b):
        for x, y in zip(a[1:], b[1:]):
            unify(x, y)
        return
    assert a == b, (a, b)


CONSTRUCTORS = {  # type: its constructors and their fields' types, of its parameters
    'List': [('Nil', []), ('Cons', ['Int', ('List',)])],
    'Tree': [('Leaf', ['Int']), ('Node', [('Tree',), ('Tree',)])],
    'Pair': [('Pair', [0, 1])],
}
TYPE_OF_CONSTRUCTOR = {c: t for t, cs in CONSTRUCTORS.items() for c, _ in cs}


def fresh_data(name):
    return (name, Var(), Var()) if name == 'Pair' else (name,)


def field_types(data, constructor):
    fields = CONSTRUCTORS[data[0]][constructor][1]
    return [data[1 + f] if isinstance(f, int) else f for f in fields]


# ---------------------------------------------------------------- results as `show` prints them

def show_double(x):
    if x < 0:
        return '-' + show_double(-x)
    digits, exponent = ('%r' % x if 'e' in repr(x) else '%se0' % repr(x)).split('e')
    whole, fraction = (digits + '.').split('.')[:2]
    number = (whole + fraction).lstrip('0')
    point = len(whole) + int(exponent) - (len(whole + fraction) - len(number))
    number = number.rstrip('0') or '0'
    if number == '0':
        return '0.0'
    if 0.1 <= x < 1e7:
        if point <= 0:
            return '0.' + '0' * -point + number
        number = number.ljust(point, '0')
        return number[:point] + '.' + (number[point:] or '0')
    return number[0] + '.' + (number[1:] or '0') + 'e%d' % (point - 1)


def show(v, nested=False):
    if isinstance(v, tuple):
        text = ' '.join([v[0]] + [show(f, True) for f in v[1:]])
        return '(%s)' % text if nested and len(v) > 1 else text
    text = show_double(v) if isinstance(v, float) else str(v)
    return '(%s)' % text if nested and text.startswith('-') else text
