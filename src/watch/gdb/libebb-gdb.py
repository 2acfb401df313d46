"""Pretty printers of gdb for ebb: Tensor, NdArray, Storage, Node, Module and their parts.

gdb loads the file by itself if it is installed next to libebb.so and the folder is in gdb's safe path; elsewhere:
(gdb) source PREFIX/share/ebb/gdb/libebb-gdb.py
A printer only reads memory, so that it also works with a core file. It calls no function of the program.
"""

import re
import struct

import gdb
import gdb.printing

# The format of struct, and the number of digits of a number of each dtype.
ELEMENTS = {
    "Byte": ("B", 0), "Char": ("b", 0), "Short": ("h", 0), "Int": ("i", 0), "Long": ("q", 0), "Bool": ("?", 0),
    "Half": ("e", 5), "BFloat16": ("H", 4), "Float": ("f", 9), "Double": ("d", 17),
}
VALUE_LIMIT = 200  # if gdb does not tell its own
DIMENSION_LIMIT = 64  # a variable before its constructor may have any number of sizes
NO_SEQUENCE = 2**64 - 1  # of a gradient accumulator


def pointer(ref):
    """Returns the pointer of an ebb::Ref."""
    return ref["p_"]


def small_vector(value):
    """Yields the elements of an ebb::SmallVector. gdb asks for no more than it prints."""
    element = value.type.strip_typedefs().template_argument(0)
    inline = int(value.type.strip_typedefs().template_argument(1))
    data = value["heap_"] if int(value["capacity_"]) > inline else value["inline_"].address.cast(element.pointer())
    for i in range(int(value["size_"])):
        yield data[i]


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(int(address), size))


def rounded_to_bfloat(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF)


def number(dtype, data):
    """Returns the text of an element: the fewest digits that give the same number."""
    code, digits = ELEMENTS[dtype]
    if dtype == "BFloat16":
        value, same = struct.unpack("<f", b"\0\0" + data)[0], lambda x: rounded_to_bfloat(x) == data
    else:
        value, same = struct.unpack("<" + code, data)[0], lambda x: struct.pack("<" + code, x) == data
    if digits == 0:
        return str(value).lower() if dtype == "Bool" else str(value)
    if abs(value) < 1e7 and value == int(value) and str(value) != "-0.0":
        return "%d" % value
    for precision in range(1, digits):
        text = "%.*g" % (precision, value)
        try:
            if same(float(text)):
                return text
        except OverflowError:
            pass
    return "%.*g" % (digits, value)


def enumerator(value):
    return str(value).rsplit("::", 1)[-1]


def device_text(device):
    name = enumerator(device["type_"]).lower()
    return name + (":%d" % int(device["index_"]) if int(device["index_"]) >= 0 else "")


def value_limit():
    try:
        limit = gdb.parameter("print elements")
    except gdb.error:
        return VALUE_LIMIT
    return limit if limit else 1 << 62


class Values:
    """Reads the elements of an array with strides, at most as many as gdb prints."""

    def __init__(self, start, dtype, sizes, strides):
        self.start, self.dtype, self.sizes, self.strides = start, dtype, sizes, strides
        self.size = struct.calcsize(ELEMENTS[dtype][0])
        self.left = value_limit()

    def text(self, dim=0, offset=0):
        if dim == len(self.sizes):
            self.left -= 1
            return number(self.dtype, read(self.start + offset * self.size, self.size))
        parts = []
        for i in range(self.sizes[dim]):
            if self.left <= 0:
                parts.append("...")
                break
            parts.append(self.text(dim + 1, offset + i * self.strides[dim]))
        return "[" + ", ".join(parts) + "]"


def array_parts(array):
    """Returns the description of an NdArray, and its values or an empty text."""
    if not pointer(array["storage_"]):
        return "undefined", ""
    if int(array["sizes_"]["size_"]) > DIMENSION_LIMIT:
        return "<uninitialized>", ""
    storage = pointer(array["storage_"]).dereference()
    sizes = [int(x) for x in small_vector(array["sizes_"])]
    strides = [int(x) for x in small_vector(array["strides_"])]
    dtype, device = enumerator(array["dtype_"]), device_text(storage["device_"])
    head = "%s[%s] %s" % (dtype, ", ".join(map(str, sizes)), device)
    if device != "cpu" or dtype not in ELEMENTS:
        return head, ""
    try:
        values = Values(int(storage["data_"]), dtype, sizes, strides)
        return head, " = " + values.text(0, int(array["offset_"]))
    except gdb.MemoryError:
        return head, " = <unreadable memory at 0x%x>" % int(storage["data_"])


def dynamic_class(address):
    """Returns the class of an object with virtual functions, from its type information. It needs no symbols."""
    try:
        word = struct.calcsize("P")
        table = struct.unpack("P", read(address, word))[0]
        information = struct.unpack("P", read(table - word, word))[0]
        name = struct.unpack("P", read(information + word, word))[0]
        mangled = gdb.Value(name).cast(gdb.lookup_type("char").pointer()).string().lstrip("*")
        text = gdb.execute("demangle -l c++ -- _ZTS" + mangled, to_string=True).strip()
        return text[len("typeinfo name for "):] if text.startswith("typeinfo name for ") else mangled
    except (gdb.error, UnicodeDecodeError):
        return "?"


def member(address, kind, name):
    """Returns a member without a look at the dynamic type, for which gdb prints warnings if it is unknown."""
    field = next(f for f in kind.fields() if f.name == name)
    return gdb.Value(address + field.bitpos // 8).cast(field.type.pointer()).dereference()


def node_text(node):
    """Describes the node at a pointer: its class, and its number if gdb knows the type."""
    if not node:
        return "none"
    text = re.sub(r"\bebb::(autograd::|ops::)?|\(anonymous namespace\)::", "", dynamic_class(int(node)))
    kind = node.type.strip_typedefs().target().unqualified()
    sequence = int(member(int(node), kind, "sequence_nr_")) if is_complete(kind) else NO_SEQUENCE
    return text + (" #%d" % sequence if sequence != NO_SEQUENCE else "")


def is_complete(kind):
    try:
        return bool(kind.strip_typedefs().fields())
    except TypeError:
        return False


class NdArrayPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "".join(array_parts(self.value))


class VariablePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        impl = pointer(self.value["impl_"])
        if not impl:
            return "undefined"
        head, values = array_parts(impl["data"])
        node = pointer(impl["grad_fn"])
        if node:
            head += ", grad_fn=" + node_text(node)
        elif impl["requires_grad"]:
            head += ", requires_grad"
        if impl["inference"]:
            head += ", inference"
        return head + values


class StoragePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "%d bytes on %s at 0x%x, version %d, used by %d" % (
            int(self.value["bytes_"]), device_text(self.value["device_"]), int(self.value["data_"]),
            atomic(self.value["version_"]), atomic(self.value["refs_"]))


def atomic(value):
    return int(value["_M_i"])


class RefPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        target = pointer(self.value)
        if not target:
            return "null"
        if str(target.type.strip_typedefs().target().unqualified()) == NODE:
            return node_text(target)
        return target.dereference() if is_complete(target.type.strip_typedefs().target()) else target


class SmallVectorPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "size %d" % int(self.value["size_"])

    def children(self):
        return (("[%d]" % i, x) for i, x in enumerate(small_vector(self.value)))

    def display_hint(self):
        return "array"


class SixteenBitPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        kind = str(self.value.type.strip_typedefs().unqualified()).rsplit("::", 1)[-1]
        return number(kind, read(self.value.address, 2)) if self.value.address else "?"


class DevicePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return device_text(self.value)


class NodePrinter:
    """A node with the nodes of its inputs."""

    def __init__(self, value):
        offset, self.kind = base_class(value.type.strip_typedefs().unqualified(), NODE)
        self.node = gdb.Value(int(value.address) + offset).cast(self.kind.pointer())

    def to_string(self):
        return node_text(self.node)

    def children(self):
        if not is_complete(self.kind):
            return
        for i, edge in enumerate(small_vector(member(int(self.node), self.kind, "edges_"))):
            yield "input %d" % i, node_text(pointer(edge["function"]))


def items(ordered_dict):
    """Yields the names and values of an ebb::OrderedDict with text keys."""
    vector = ordered_dict["items_"]["_M_impl"]
    item, end = vector["_M_start"], vector["_M_finish"]
    while item != end:
        pair = item.dereference()["pair_"]
        data, size = pair["first"]["_M_dataplus"]["_M_p"], int(pair["first"]["_M_string_length"])
        yield data.string(length=size), pair["second"]
        item += 1


class ModulePrinter:
    """A module: its class, parameters, buffers, submodules and the other fields of the class itself."""

    def __init__(self, value):
        self.value = value
        self.address = int(value.address)

    def to_string(self):
        return dynamic_class(self.address)

    def children(self):
        kind = self.value.type.strip_typedefs().unqualified()
        offset, base = base_class(kind, MODULE)
        shown = set()
        if is_complete(base):
            for list_name in ("parameters_", "buffers_", "children_"):
                for name, item in items(member(self.address + offset, base, list_name)):
                    shown.add(name)
                    yield name, item if list_name != "children_" else item["_M_ptr"].dereference()
        if str(kind) != MODULE:
            for field in kind.fields():
                if not field.is_base_class and hasattr(field, "bitpos") and field.name not in shown:
                    yield field.name, self.value[field]


class ModuleHolderPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        module = self.value["impl_"]["_M_ptr"]
        if not module:
            return "empty"
        if is_complete(module.type.target()):
            return module.dereference()
        return dynamic_class(int(module))


MODULE = "ebb::nn::Module"
NODE = "ebb::autograd::Node"


def base_class(kind, name):
    """Returns the offset of a base class in an object, and its type; None if it is no base class."""
    if str(kind) == name:
        return 0, kind
    for field in kind.fields() if kind.code == gdb.TYPE_CODE_STRUCT and is_complete(kind) else ():
        if field.is_base_class:
            found = base_class(field.type.strip_typedefs(), name)
            if found:
                return found[0] + field.bitpos // 8, found[1]
    return None


EXACT = [
    (r"ebb::Variable$", VariablePrinter),
    (r"ebb::NdArray$", NdArrayPrinter),
    (r"ebb::Storage$", StoragePrinter),
    (r"ebb::Device$", DevicePrinter),
    (r"ebb::(Half|BFloat16)$", SixteenBitPrinter),
    (r"ebb::Ref<", RefPrinter),
    (r"ebb::SmallVector<", SmallVectorPrinter),
]
DERIVED = [
    (MODULE, ModulePrinter),
    (NODE, NodePrinter),
    ("ebb::nn::detail::ModuleHolderBase", ModuleHolderPrinter),
]


class EbbPrinters(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__("ebb")

    def __call__(self, value):
        kind = value.type.strip_typedefs().unqualified()
        name = str(kind)
        if kind.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            return None
        for pattern, printer in EXACT:
            if re.match(pattern, name):
                return printer(value)
        for base, printer in DERIVED:
            if value.address is not None and base_class(kind, base):
                return printer(value)
        return None


gdb.printing.register_pretty_printer(gdb.current_objfile(), EbbPrinters(), replace=True)
