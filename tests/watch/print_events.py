"""Prints the events of a folder, one a line, as TensorBoard's own reader gives them."""
import os
import sys

from tensorboard.backend.event_processing import event_file_loader
from tensorboard.compat.proto import graph_pb2


def numbers(values):
    return " ".join("%.9g" % value for value in values)


def shape(dims):
    return "[" + ",".join(str(dim.size) for dim in dims) + "]"


def line(value):
    plugin = value.metadata.plugin_data
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return "scalar %s %.9g" % (value.tag, value.simple_value)
    if kind == "histo":
        h = value.histo
        full = ["%.9g:%.9g" % each for each in zip(h.bucket_limit, h.bucket) if each[1] > 0]
        return "histogram %s %s | %d from %s | %s" % (
            value.tag, numbers([h.min, h.max, h.num, h.sum, h.sum_squares]), len(h.bucket_limit),
            numbers(h.bucket_limit[:1]), " ".join(full))
    if kind == "image":
        image = value.image
        return "image %s %d x %d x %d" % (value.tag, image.height, image.width, image.colorspace)
    tensor = value.tensor
    return "%s %s %s %d %s %s%s" % (
        plugin.plugin_name, value.tag, plugin.content.hex(), tensor.dtype, shape(tensor.tensor_shape.dim),
        numbers(tensor.float_val), b"".join(tensor.string_val).hex())


def lines(event):
    if event.file_version:
        yield event.file_version
    if event.HasField("session_log"):
        yield "session %d" % event.session_log.status
    if event.graph_def:
        for node in graph_pb2.GraphDef.FromString(event.graph_def).node:
            shapes = node.attr["_output_shapes"].list.shape
            yield "node %s %s (%s) %s" % (
                node.name, node.op, ", ".join(node.input), "".join(shape(each.dim) for each in shapes))
    for value in event.summary.value:
        yield line(value)


for folder, _, names in sorted(os.walk(sys.argv[1])):
    for name in sorted(names):
        for event in event_file_loader.LegacyEventFileLoader(os.path.join(folder, name)).Load():
            for text in lines(event):
                print(os.path.relpath(folder, sys.argv[1]), event.step, text)
