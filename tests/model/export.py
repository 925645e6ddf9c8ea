#!/usr/bin/env python3
"""Writes the programs of the executable model of the graph's meaning as tagged graphs in text form.

    export.py MODEL_FOLDER [OUT_FOLDER]

The model lowers small expression trees to untyped nodes and runs them under random schedules. This script lowers each
program with the model's own code, infers the types that our graphs carry, puts a Force where a lazy edge meets a strict
operand, and writes one .tagged file per program, with the results that the model's interpreter gives as header lines:

    -- EXPECT: 11                 a result as `show` prints it, one line per result of the graph
    -- EXPECT: error DivideByZero the result is an error of this code (runtime/value/value.h)

Programs whose data our graphs do not have (symbolic zeros) are left out.
"""
import os
import sys

from export_types import CONSTRUCTORS, TYPE_OF_CONSTRUCTOR, Var, field_types, fresh_data, prune, show, unify

sys.setrecursionlimit(100000)

SKIPPED = {'grad_delayed'}  # computes with a symbolic zero


# ---------------------------------------------------------------- ops by name

def named(op, fn):
    def wrapped(*args):
        return fn(*args)
    wrapped.op = op
    return wrapped


def name_helpers(lower, model):
    """The model's ops are lambdas; those that its helpers make get our ops' names, before the programs use them."""
    def helper(op, fn):
        return lambda a, b: lower.Op(named(op, fn), a, b)
    lower.add = helper('Add', lambda x, y: x + y)
    lower.sub = helper('Sub', lambda x, y: x - y)
    lower.mul = helper('Mul', lambda x, y: x * y)
    lower.eq = helper('Eq', lambda x, y: x == y)
    lower.gt = helper('Gt', lambda x, y: x > y)
    lower.div = helper('Div', lambda x, y: model.Err('div0') if y == 0 else x // y)
    lower.mn = helper('Min', min)


def op_of(fn, arity, model):
    """(op, extra constant operands) of a node's function."""
    if hasattr(fn, 'op'):
        return fn.op, []
    if arity == 2 and fn(1, 2) == 2 and fn(3, 1) == 1:
        return 'Seq', []
    if arity == 1:
        probe = fn(7)
        if isinstance(probe, model.Err):
            return 'Fail', [probe.m]
        if (probe, fn(4)) == (1, 0):
            return 'Mod', [2]
    raise ValueError('a function without a name')


# ---------------------------------------------------------------- one program

class Export:
    def __init__(self, name, program, modules):
        self.name = name
        self.model, self.lower = modules
        self.functions, self.main = program[0], program[1]
        self.parent = {}       # function: the scope in which it is defined

    def build(self):
        exporter = self

        class Lower(self.lower.Lower):
            stack = []

            def lo(self, e, c):
                self.stack.append(c.scope)
                result = super().lo(e, c)
                self.stack.pop()
                return result

            def mkfn(self, name, ps):
                f = super().mkfn(name, ps)
                exporter.parent[f.name] = self.stack[-1] if self.stack else None
                return f

        low, env = Lower(), {}
        e_ = self.lower.e_
        for n, ps, b in self.functions:
            env[n] = low.mkfn(n, ps.split())
            env[n].nres = self.lower.nres(e_(b))
        for n, ps, b in self.functions:
            low.body(env[n], e_(b), {}, env)
        root = low.g.node('op', [None], fn=lambda x: x, nm='start')
        outer = self.lower.Fn('root')
        outs = low.lo(e_(self.main), self.lower.Ctx(outer, 'root', (root, 0), {}, env))
        result = low.g.node('result')
        for k, o in enumerate(outs):
            low.g.conn(o, result, k)
        low.g.root, low.g.outs = root, outs
        self.g, self.all_functions, self.result = low.g, low.allfn, result

    def expected(self):
        import run
        value, _ = run.one(self.g, 0)
        values = list(value) if len(self.g.outs) > 1 else [value]
        return ['error DivideByZero' if v == self.model.Err('div0') else
                'error Loop' if v == 'STUCK' or v == self.model.Err('<<loop>>') else
                'error User ' + v.m if isinstance(v, self.model.Err) else show(v) for v in values]

    # The edges into a node, letrec's names bypassed.
    def source(self, edge):
        while edge[0].op == 'op' and edge[0].a.get('nm') not in (None, 'match', 'field', 'start'):
            edge = edge[0].ins[0][0]
        return edge

    def operands(self, n):
        if n.op == 'entry':
            return [self.source(s) for s in n.ins[0]]
        count = 1 + max(n.ins) if n.ins else 0
        return [self.source(n.ins[k][0]) for k in range(count)]

    def collect(self):
        skip = {n for n in self.g.nodes if n.op == 'op' and n.a.get('nm') not in (None, 'match', 'field', 'start')}
        self.nodes = [n for n in self.g.nodes if n not in skip and n is not self.result]
        self.ins = {n: self.operands(n) for n in self.nodes if n is not self.g.root}
        self.ins[self.g.root] = []
        # A NextIteration needs its loop's predicate, which the model leaves out where the value is switched already.
        predicate = {n.a['loop']: self.ins[n][0] for n in self.nodes if n.op == 'exit'}
        for n in self.nodes:
            if n.op == 'next' and len(self.ins[n]) == 1:
                self.ins[n].append(predicate[n.a['loop']])
        for n in list(self.nodes):
            if n.op == 'op' and n is not self.g.root and n.a.get('nm') is None and 'kk' not in n.a['fn'].__code__.co_freevars:
                self.expand(n)
        self.fail_as_data()

    def fail_as_data(self):
        """A number that fails and is scrutinised as a list, which the untyped model allows: Seq carries the failure."""
        failing = {self.ins[n][0] for n in self.nodes if n.a.get('nm') == 'match' and self.ins[n][0][0].a.get('name') == 'Div'}
        for edge in failing:
            users = [n for n in self.nodes if edge in self.ins[n]]
            nil = self.new('construct', [self.trigger_of(edge)], nm='Nil', strict=[])
            seq = self.new('op', [edge, (nil, 0)], name='Seq')
            for n in users:
                self.ins[n] = [(seq, 0) if e == edge else e for e in self.ins[n]]

    def new(self, op, ins, **attrs):
        n = self.model.Node(len(self.g.nodes), op, len(ins), attrs)
        self.g.nodes.append(n)
        self.nodes.append(n)
        self.ins[n] = ins
        return n

    def expand(self, n):
        """Ops that are several of ours."""
        op, constants = op_of(n.a['fn'], len(self.ins[n]), self.model)
        n.a['name'] = op
        if op == 'Fail':
            # The model's op fails on its operand; ours on its message, which takes that operand's trigger.
            trigger = self.trigger_of(self.ins[n][0])
            self.ins[n] = [(self.new('const', [trigger], v=constants[0]), 0)]
        elif op == 'Mod':
            self.ins[n].append((self.new('const', [self.trigger_of(self.ins[n][0])], v=constants[0]), 0))
        elif op == 'Min':
            a, b = self.ins[n]
            p = (self.new('op', [a, b], name='Le'), 0)
            left, right = self.new('switch', [p, a], n=2), self.new('switch', [p, b], n=2)
            n.op = 'bmerge'
            self.ins[n] = [p, (left, 0), (right, 1)]

    def trigger_of(self, edge):
        """The trigger of the loop or branch where a value stands: these programs have it beside the value."""
        n = edge[0]
        if n.op == 'const':
            return self.ins[n][0]
        if n.op == 'op':
            return self.trigger_of(self.ins[n][0])
        if n.op == 'switch':
            for other in self.nodes:
                if other.op == 'switch' and other.a.get('nm') == 'trig' and self.ins[other][0] == self.ins[n][0]:
                    return (other, edge[1])
        if n.op == 'lmerge':
            for other in self.nodes:
                if other.op == 'lmerge' and other.a.get('nm') == '$t' and other.a['loop'] == n.a['loop']:
                    return (other, 0)
        raise ValueError('no trigger beside ' + repr(n))

    # ---- scopes

    def find_scopes(self):
        callee = self.g.enter
        entry = {f.trig: f.name for f in self.all_functions}
        entry.update({p: f.name for f in self.all_functions for p in f.params})
        scope = {self.g.root: 'root'}

        def of_result(edge):
            n, port = edge
            if n.op == 'call' and port == 0 or n.op == 'delay' and port > 0:
                return callee[n.a['label']]
            if n.op == 'enter' and port == 0:
                return n.a['loop']
            return scope.get(n)

        changed = True
        while changed:
            changed = False
            for n in self.nodes:
                if n in scope:
                    continue
                known = None
                if n.op == 'entry':
                    known = entry[n]
                elif n.op in ('lmerge', 'next'):
                    known = n.a['loop']
                elif n.op == 'dret':
                    known = scope.get(self.g.delay[n.a['label']])
                else:
                    ins = {'ret': self.ins[n][1:], 'exit': self.ins[n][2:], 'outer': self.ins[n][:1]}.get(n.op, self.ins[n])
                    known = next((s for s in map(of_result, ins) if s), None)
                if known:
                    scope[n], changed = known, True
        self.scope = scope
        self.loops = {n.a['loop']: scope[n] for n in self.nodes if n.op == 'enter'}

    # ---- types

    def infer(self):
        self.type = {}
        for n in self.nodes:
            for port in range(self.result_count(n)):
                self.type[n, port] = Var()
        for n in self.nodes:
            self.constrain(n)
        self.infer_fields()
        for key in self.type:
            t = prune(self.type[key])
            for part in (t,) + (t[1:] if isinstance(t, tuple) else ()):
                part = prune(part)
                if isinstance(part, Var):
                    part.to = 'Int'
        # Which edges may carry references.
        self.lazy = {key: False for key in self.type}
        changed = True
        while changed:
            changed = False
            for n in self.nodes:
                for port in range(self.result_count(n)):
                    if not self.lazy[n, port] and self.is_lazy(n, port):
                        self.lazy[n, port] = changed = True

    def result_count(self, n):
        if n.op in ('dret',):
            return 0
        if n.op == 'switch':
            return n.a['n']
        if n.op == 'delay':
            return len(self.ins[n]) + 1
        if n.op in ('call', 'enter') and n.a.get('trig'):
            return 2
        return 1

    def constrain(self, n):
        ins = [self.type[e] for e in self.ins[n]]
        out = [self.type[n, p] for p in range(self.result_count(n))]
        if n is self.g.root:
            unify(out[0], 'Trigger')
        elif n.op == 'const':
            v = n.a['v']
            t = ('Bool' if isinstance(v, bool) else 'Double' if isinstance(v, float) else 'Text' if isinstance(v, str)
                 else Var(number=True))
            unify(ins[0], 'Trigger')
            unify(out[0], t)
        elif n.op == 'dead':
            unify(ins[0], 'Trigger')
        elif n.op == 'switch':
            for o in out:
                unify(o, ins[1])
        elif n.op == 'bmerge':
            for i in ins[1:]:
                unify(out[0], i)
        elif n.op in ('entry', 'lmerge'):
            for i in ins:
                unify(out[0], i)
        elif n.op in ('call', 'enter', 'force', 'ret', 'next'):
            unify(out[0], ins[0])
            if len(out) > 1:
                unify(out[1], 'Trigger')
                unify(out[0], 'Trigger')
        elif n.op in ('exit', 'outer'):
            unify(out[0], ins[1])
        elif n.op == 'delay':
            for k, i in enumerate(ins):
                unify(out[k + 1], i)
            unify(out[0], self.type[self.cell_source(n.a['label'])])
        elif n.op == 'construct':
            data = fresh_data(TYPE_OF_CONSTRUCTOR[n.a['nm']])
            index = [c for c, _ in CONSTRUCTORS[data[0]]].index(n.a['nm'])
            unify(out[0], data)
            for t, i in zip(field_types(data, index), ins[1:]):
                unify(t, i)
        elif n.op == 'op' and n.a.get('nm') == 'match':
            unify(out[0], 'Alt')
        elif n.op == 'op' and 'name' not in n.a:
            pass  # fields, when the types of data are known: see infer_fields
        elif n.op == 'op':
            op = n.a['name']
            if op in ('Eq', 'Gt', 'Le'):
                unify(ins[0], ins[1])
                unify(out[0], 'Bool')
            elif op == 'Seq':
                unify(out[0], ins[1])
            elif op != 'Fail':
                for i in ins:
                    unify(out[0], i)

    def cell_source(self, label):
        return next(self.ins[n][0] for n in self.nodes if n.op == 'dret' and n.a['label'] == label)

    def infer_fields(self):
        for n in self.nodes:
            if n.op == 'op' and n is not self.g.root and 'name' not in n.a and n.a.get('nm') != 'match':
                n.a['field'] = n.a['fn'].__closure__[0].cell_contents
        left = [n for n in self.nodes if 'field' in n.a]
        while left:
            rest = []
            for n in left:
                data = prune(self.type[self.ins[n][0]])
                if isinstance(data, Var):
                    rest.append(n)
                    continue
                source, port = self.ins[n][0]
                k = n.a['field']
                sizes = [len(fs) for _, fs in CONSTRUCTORS[data[0]]]
                index = port if n.a.get('nm') == 'field' else next(i for i, s in enumerate(sizes) if k < s)
                n.a['constructor'] = index
                unify(self.type[n, 0], field_types(data, index)[k])
            assert len(rest) < len(left), 'a field of unknown data'
            left = rest

    def is_lazy(self, n, port):
        lazy = [self.lazy[e] for e in self.ins[n]]
        if n.op == 'delay':
            return port == 0 or lazy[port - 1]
        if 'field' in n.a:
            data = prune(self.type[self.ins[n][0]])
            return not self.strict_field(data, n.a['field'])
        if n.op in ('switch', 'exit', 'outer'):
            return lazy[1]
        if n.op in ('call', 'enter', 'ret', 'next'):
            return port == 0 and lazy[0]
        if n.op in ('entry', 'lmerge'):
            return any(lazy)
        if n.op == 'bmerge':
            return any(lazy[1:])
        return False

    def strict_field(self, data, k):
        return any(n.op == 'construct' and TYPE_OF_CONSTRUCTOR[n.a['nm']] == data[0] and k < len(n.a['strict']) and
                   n.a['strict'][k] for n in self.nodes)

    # ---- text

    def type_name(self, t):
        t = prune(t)
        return t if isinstance(t, str) else ' '.join([t[0]] + [self.type_name(x) for x in t[1:]])

    def type_text(self, key):
        name = self.type_name(self.type[key])
        return ('lazy ' if self.lazy[key] else '') + ('"%s"' % name if ' ' in name else name)

    def write(self):
        self.build()
        expected = self.expected()
        self.collect()
        self.find_scopes()
        self.infer()
        return self.text(expected)

    def text(self, expected):
        head = ['-- From the executable model: %s.' % self.name] + ['-- EXPECT: ' + e for e in expected]
        head.append('tagged "%s"' % self.name)
        data = {}
        for t in map(prune, self.type.values()):
            if isinstance(t, tuple):
                data[self.type_name(t)] = t
        for name in sorted(data):
            constructors = []
            for index, (c, _) in enumerate(CONSTRUCTORS[data[name][0]]):
                fields = [self.field_text(data[name], index, k) for k in range(len(CONSTRUCTORS[data[name][0]][index][1]))]
                constructors.append(' '.join([c] + fields))
            head.append('data %s = %s' % ('"%s"' % name if ' ' in name else name, ' | '.join(constructors)))
        for k, o in enumerate(self.operands(self.result)):
            head.append('result "" : ' + self.type_text(o))
        head.append('root root')
        for f in self.all_functions:
            head.append('function ' + f.name + (' in ' + self.parent[f.name] if self.parent[f.name] else ''))
        for loop in sorted(self.loops, key=lambda l: int(l[1:])):
            head.append('loop %s in %s' % (loop, self.loops[loop]))
        callers = {n.a['label']: self.scope[n] for n in self.nodes if n.op in ('call', 'delay')}
        for label in range(1, self.g.nlab + 1):
            kind = 'delay' if label in self.g.delay else 'call'
            head.append('site %d %s %s -> %s' % (label - 1, kind, callers[label], self.g.enter[label]))
        return '\n'.join(head + self.body()) + '\n'

    def field_text(self, data, index, k):
        t = field_types(data, index)[k]
        name = self.type_name(t)
        name = '"%s"' % name if ' ' in name else name
        return '(%s%s)' % ('strict ' if self.strict_field(data, k) else 'lazy ', name)

    def body(self):
        order, lines = {}, {}
        names = ['root'] + [f.name for f in self.all_functions] + sorted(self.loops, key=lambda l: int(l[1:]))
        members = {s: [n for n in self.nodes if self.scope[n] == s] for s in names}
        number = 0
        for s in names:
            for n in sorted(members[s], key=lambda n: n.id):
                order[n] = number
                number += 1
        self.order, self.next_number, forces = order, number, {}

        def ref(edge):
            return '%%%d' % order[edge[0]] + ('.%d' % edge[1] if edge[1] else '')

        def forced(edge, scope):
            """The edge as a value: by way of a Force if it is lazy."""
            if not self.lazy[edge]:
                return ref(edge)
            if edge not in forces:
                forces[edge] = self.next_number
                lines.setdefault(scope, []).append('  %%%d = Force %s : %s' % (
                    self.next_number, ref(edge), self.type_text(edge).replace('lazy ', '')))
                self.next_number += 1
            return '%%%d' % forces[edge]

        for s in names:
            own = lines.setdefault(s, [])
            for n in sorted(members[s], key=lambda n: n.id):
                text = self.node_text(n, ref, forced)
                if text:
                    lines[s].append('  %%%d = %s' % (order[n], text))
        for k, o in enumerate(self.operands(self.result)):
            lines['root'].append('  %%%d = Result %d %s' % (self.next_number, k, ref(o)))
            self.next_number += 1
        out = []
        for s in names:
            out += ['scope %s {' % s] + lines[s] + ['}'] if lines[s] else []
        return out

    def node_text(self, n, ref, forced):
        scope, ins = self.scope[n], self.ins[n]
        types = ', '.join(self.type_text((n, p)) for p in range(self.result_count(n)))
        site = n.a['label'] - 1 if 'label' in n.a else None
        plain = [ref(e) for e in ins]
        if n is self.g.root:
            return 'Start : Trigger'
        if n.op == 'const':
            return 'Const %s %s : %s' % (self.literal(n), plain[0], types)
        if n.op == 'op' and n.a.get('nm') == 'match':
            return 'Match %s : Alt' % forced(ins[0], scope)
        if 'field' in n.a:
            data = prune(self.type[ins[0]])
            constructor = CONSTRUCTORS[data[0]][n.a['constructor']][0]
            return 'Field %s %d %s : %s' % (constructor, n.a['field'], forced(ins[0], scope), types)
        if n.op == 'op':
            op = n.a['name'] + (' 0' if n.a['name'] == 'Fail' else '')
            return '%s %s : %s' % (op, ', '.join(forced(e, scope) for e in ins), types)
        if n.op == 'construct':
            fields = [forced(e, scope) if st else ref(e) for e, st in zip(ins[1:], n.a['strict'])]
            return 'Construct %s %s : %s' % (n.a['nm'], ', '.join(plain[:1] + fields), types)
        if n.op == 'dret':
            source = forced(ins[0], self.g.enter[n.a['label']])
            return 'Return %d %s' % (site, source)
        head = {'switch': 'Switch', 'bmerge': 'BranchMerge', 'entry': 'EntryMerge', 'lmerge': 'LoopMerge', 'dead': 'Dead',
                'force': 'Force'}.get(n.op)
        if head:
            if n.op in ('switch', 'bmerge'):
                plain[0] = forced(ins[0], scope)
            return '%s %s : %s' % (head, ', '.join(plain), types) if plain else '%s : %s' % (head, types)
        if n.op in ('call', 'ret', 'delay'):
            return '%s %d %s : %s' % ({'call': 'Call', 'ret': 'Return', 'delay': 'Delay'}[n.op], site, ', '.join(plain), types)
        name = {'enter': 'Enter', 'next': 'NextIteration', 'exit': 'Exit', 'outer': 'Outer'}[n.op]
        at = n.a['D'] if n.op == 'outer' else n.a['loop']
        if n.op in ('next', 'exit'):
            k = 1 if n.op == 'next' else 0
            plain[k] = forced(ins[k], n.a['loop'])
        return '%s %s %s : %s' % (name, at, ', '.join(plain), types)

    def literal(self, n):
        v, t = n.a['v'], self.type_name(self.type[n, 0])
        if isinstance(v, bool):
            return str(v)
        if isinstance(v, str):
            return '"%s"' % v
        return repr(float(v)) if t == 'Double' else str(v)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.path.insert(0, sys.argv[1])
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(os.path.abspath(__file__))
    sys.argv = sys.argv[:1]
    import model
    import lower
    name_helpers(lower, model)
    import progs
    count = 0
    for name, program in progs.P.items():
        if name in SKIPPED:
            continue
        file_name = name.replace('+', '_plus_') + '.tagged'
        try:
            text = Export(name, program, (model, lower)).write()
        except (AssertionError, ValueError) as e:
            sys.exit('%s: %r' % (name, e))
        with open(os.path.join(out, file_name), 'w', encoding='utf-8') as f:
            f.write(text)
        count += 1
    print('%d programs' % count)


if __name__ == '__main__':
    main()
