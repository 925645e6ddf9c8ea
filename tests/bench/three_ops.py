"""tanh (x w + b) in ONNX Runtime, on one thread: what the calls of a graph of three ops are measured beside."""


def onnx_runtime(x, w, b):
    """A call of it on these. Raises ImportError where there is no ONNX Runtime."""
    import onnxruntime
    from onnx import TensorProto, helper
    f32 = TensorProto.FLOAT
    nodes = [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("Add", ["xw", "b"], ["s"]), helper.make_node("Tanh", ["s"], ["y"])]
    graph = helper.make_graph(nodes, "three", [helper.make_tensor_value_info(n, f32, s) for n, s in [("x", [4]), ("w", [4, 4]), ("b", [4])]],
                              [helper.make_tensor_value_info("y", f32, [4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    inputs = {"x": x, "w": w, "b": b}
    return lambda: session.run(None, inputs)
