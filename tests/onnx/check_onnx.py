#!/usr/bin/env python3
"""Loads .graph files with the onnx module that this interpreter has, and checks them.

    check_onnx.py FILE.graph...

Exit code 0: every file is a model that onnx accepts; 1: one is not; 77: there is no onnx module.
"""
import sys

try:
    import onnx
except ImportError:
    print('no onnx module in ' + sys.executable)
    sys.exit(77)


def check(path):
    model = onnx.load(path)
    onnx.checker.check_model(model)
    # Our own promises, as a stock reader sees them.
    assert model.producer_name == 'dfc', model.producer_name
    assert 'org.dfc' in [o.domain for o in model.opset_import], 'no opset import of org.dfc'
    known = {i.name for i in model.graph.input}
    for node in model.graph.node:
        assert node.domain in ('', 'org.dfc'), node.domain  # ops on tensors with ONNX's meaning are ONNX's
        cycle = [a for a in node.attribute if a.name == 'cycle']
        assert len(cycle[0].strings if cycle else []) == sum(1 for i in node.input if not i), node.name
        assert all(i in known for i in node.input if i), 'node %s comes before its operand' % node.name
        known.update(node.output)
    assert all(o.name in known for o in model.graph.output), 'a result that nothing gives'
    return sum(not node.domain for node in model.graph.node)


def main():
    failed = standard = 0
    for path in sys.argv[1:]:
        try:
            standard += check(path)
        except Exception as e:  # whatever a stock tool says is what its user would see
            failed += 1
            print('%s: %s: %s' % (path, type(e).__name__, e))
    print('onnx %s: %d of %d files accepted; %d nodes are ONNX\'s own' % (onnx.__version__, len(sys.argv) - 1 - failed, len(sys.argv) - 1, standard))
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
