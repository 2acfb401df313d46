"""Mutation operators. Each takes a node of the syntax tree and yields mutants of it."""

import re

from clang import cindex

from mutant import Mutant

K = cindex.CursorKind


def whole(node, after, operator, statement=False, end=None):
    """A mutant that replaces all of a node."""
    end = node.end if end is None else end
    if not 0 <= node.begin < end:
        return
    before = node.text[node.begin:end].decode()
    if balanced(before) and before != after:
        yield Mutant(node.begin, end, after, operator, statement, before=before)


def balanced(text):
    """Whether all brackets of a piece of code are balanced."""
    depth = 0
    for c in re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', "", text):
        depth += (c in "([{") - (c in ")]}")
        if depth < 0:
            return False
    return depth == 0


def between(node):
    """The operator and both operands of a binary node; None if a macro is involved."""
    operands = [c for c in node.children if c.kind.is_expression()]
    if node.kind == K.CALL_EXPR:
        operands = [operands[0], operands[-1]] if len(operands) == 3 else []
    if len(operands) != 2:
        return None
    left, right = operands
    if not node.begin <= left.begin < left.end <= right.begin < right.end <= node.end:
        return None
    sign = re.sub(r"/\*.*?\*/|//[^\n]*", "", node.text[left.end:right.begin].decode()).strip()
    return left, sign, right


def is_text(node):
    """Whether this is a string, whose text does not count as behavior."""
    return any("basic_string" in n.cursor.type.get_canonical().spelling or n.kind == K.STRING_LITERAL
               for n in [node, *node.children])


def binary(node):
    if node.kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR):
        return between(node)
    if node.kind == K.CALL_EXPR and node.cursor.spelling.startswith("operator"):
        return between(node)
    return None


def pieces(node, left, right):
    return [node.text[n.begin:n.end].decode() for n in (left, right)]


def flip_comparison(node):
    signs = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
    parts = binary(node)
    if parts and parts[1] in signs:
        a, b = pieces(node, parts[0], parts[2])
        yield from whole(node, f"{a} {signs[parts[1]]} {b}", "comparison")


def other_arithmetic(node):
    signs = {"+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
    parts = binary(node)
    if parts and parts[1] in signs and not is_text(node):
        a, b = pieces(node, parts[0], parts[2])
        yield from whole(node, f"{a} {signs[parts[1]]} {b}", "arithmetic")


def drop_term(node):
    parts = binary(node)
    if not parts or is_text(node):
        return
    a, b = pieces(node, parts[0], parts[2])
    if parts[1] == "+":
        yield from whole(node, a, "term")
        yield from whole(node, b, "term")
    elif parts[1] == "-":
        yield from whole(node, a, "term")
    elif parts[1] == "+=" and is_statement(node):
        yield from left_out(node, "term")
    elif parts[1] == "+=":
        yield from whole(node, a, "term")


def negate(node):
    parts = binary(node)
    if parts and parts[1] in ("&&", "||"):
        a, b = pieces(node, parts[0], parts[2])
        yield from whole(node, f"({a}) {'||' if parts[1] == '&&' else '&&'} ({b})", "condition")
    parent = node.parent
    if parent is None or not node.kind.is_expression() or parent.kind not in (K.IF_STMT, K.CONDITIONAL_OPERATOR):
        return
    if parent.children[0] is not node or (parent.kind == K.IF_STMT and not heads(node, b"(", b")")):
        return
    yield from whole(node, f"!({node.source()})", "condition")


def heads(node, before, after):
    """Whether the node is between these two texts, apart from spaces."""
    return node.text[:node.begin].rstrip().endswith(before) and node.text[node.end:].lstrip().startswith(after)


def is_statement(node):
    """Whether this expression is a separate statement."""
    parent = node.parent
    if parent is None or not (node.kind.is_expression() or node.kind == K.CXX_DELETE_EXPR):
        return False
    if parent.kind == K.COMPOUND_STMT:
        return node.text[node.end:].lstrip()[:1] == b";"
    if parent.kind in (K.IF_STMT, K.WHILE_STMT, K.FOR_STMT, K.CXX_FOR_RANGE_STMT):
        follows_head = re.search(rb"(\)|\belse|\]\])\s*$", node.text[:node.begin]) is not None
        return node.text[node.end:].lstrip()[:1] == b";" and follows_head and parent.children[0] is not node
    return False


def left_out(node, operator):
    end = node.text.find(b";", node.end) + 1
    if end:
        yield from whole(node, "", operator, statement=True, end=end)


def drop_statement(node):
    if node.kind in (K.RETURN_STMT, K.CONTINUE_STMT, K.BREAK_STMT):
        if leaves_early(node):
            yield from left_out(node, "statement")
    elif node.kind.is_expression() and is_statement(node) and not macro_call(node):
        yield from left_out(node, "statement")


def macro_call(node):
    return re.match(rb"[A-Z][A-Z0-9_]+\(", node.text[node.begin:node.begin + 40]) is not None


def leaves_early(node):
    """Whether this is an early exit with code after it. A return at the end must stay."""
    inner, parent = node, node.parent
    if parent is not None and parent.kind == K.COMPOUND_STMT:
        if parent.children[-1] is not node:
            return False
        inner, parent = parent, parent.parent
    if parent is None or parent.kind != K.IF_STMT or parent.children[-1] is not inner or len(parent.children) != 2:
        return False
    block = parent.parent
    return block is not None and block.kind == K.COMPOUND_STMT and block.children[-1] is not parent


def swap_arguments(node):
    if node.kind != K.CALL_EXPR or node.cursor.spelling.startswith("operator"):
        return
    if node.cursor.spelling in ("max", "min", "swap"):  # symmetric in their arguments
        return
    arguments = node.arguments()
    for a, b in zip(arguments, arguments[1:]):
        if not node.begin <= a.begin < a.end < b.begin < b.end < node.end:
            continue
        one, two = plain_type(a), plain_type(b)
        if one != two or "dependent" in one or a.source() == b.source():
            continue
        text = node.text
        after = text[node.begin:a.begin] + text[b.begin:b.end] + text[a.end:b.begin] + text[a.begin:a.end] + \
            text[b.end:node.end]
        yield from whole(node, after.decode(), "arguments")


def plain_type(node):
    """The type of an expression before implicit conversions, without const and references."""
    while node.kind == K.UNEXPOSED_EXPR and len(node.children) == 1 and \
            (node.children[0].begin, node.children[0].end) == (node.begin, node.end):
        node = node.children[0]
    name = node.cursor.type.get_canonical().spelling
    return re.sub(r"\bconst\b|&", "", name).strip()


def off_by_one(node):
    if node.kind == K.INTEGER_LITERAL and re.fullmatch(r"(0x[0-9a-fA-F']+|[0-9']+)[uUlLzZ]*", node.source()):
        first = node.source() == "0" and node.text[:node.begin].endswith(b"[")  # x[-1] is undefined
        for sign in "+" if first else "+-":
            yield from whole(node, f"{node.source()} {sign} 1", "one")


def other_enumerator(node):
    if node.kind != K.DECL_REF_EXPR:
        return
    value = node.cursor.referenced
    if value is None or value.kind != K.ENUM_CONSTANT_DECL:
        return
    source = node.source()
    if not re.fullmatch(r"(\w+::)*" + re.escape(value.spelling), source):
        return
    values = [v.spelling for v in value.semantic_parent.get_children() if v.kind == K.ENUM_CONSTANT_DECL]
    at = values.index(value.spelling)
    for other in dict.fromkeys((values[at - 1], values[(at + 1) % len(values)])):
        yield from whole(node, source[:-len(value.spelling)] + other, "enumerator")


def other_bool(node):
    if node.kind == K.CXX_BOOL_LITERAL_EXPR and node.source() in ("true", "false"):
        yield from whole(node, "false" if node.source() == "true" else "true", "bool")


def wrong_bound(node):
    """The first and the last value of a loop that counts."""
    if node.kind != K.FOR_STMT:
        return
    for part in node.children[:-1]:
        if part.kind == K.DECL_STMT:
            for variable in part.children:
                if variable.kind == K.VAR_DECL and variable.children and counts(variable):
                    first = variable.children[-1]
                    if first.kind.is_expression():
                        yield from whole(first, f"{first.source()} + 1", "bound")
        parts = binary(part)
        if parts and parts[1] in ("<", "<=", ">", ">=", "!=") and counts(parts[2]):
            last = parts[2]
            yield from whole(last, f"{last.source()} {'-' if '<' in parts[1] or parts[1] == '!=' else '+'} 1", "bound")


def counts(node):
    kind = node.cursor.type.get_canonical().kind
    return cindex.TypeKind.BOOL.value < kind.value <= cindex.TypeKind.INT128.value


OPERATORS = (negate, drop_statement, swap_arguments, off_by_one, flip_comparison, other_enumerator, other_bool,
             drop_term, other_arithmetic, wrong_bound)


def mutants_of(node):
    """All mutants of a node; the same change by two operators counts once."""
    for operator in OPERATORS:
        yield from operator(node)
