// The Python code at the beginning of exported programs.
#include "random_programs/export.h"

namespace programs {

const char* const python_prelude =
    R"py(# Written by random_programs: gives programs to PyTorch and compares with what ebb gave.
import collections, math, re, sys, warnings
import numpy, torch, torch.utils.checkpoint

F, LA, aten, f64 = torch.nn.functional, torch.linalg, torch.ops.aten, torch.float64
warnings.simplefilter('ignore')
torch.set_num_threads(1)
sys.setrecursionlimit(20000)

# Tensors of known numbers, as state.h has them.
LAYOUTS = ['Whole', 'Transposed', 'Stepped', 'Offset', 'Expanded']

def make(sizes, dtype, seed, layout='Whole'):
    with torch.no_grad():
        spread, many = list(sizes), len(sizes) > 1
        if layout == 'Transposed' and many: spread[0], spread[-1] = spread[-1], spread[0]
        if layout == 'Stepped' and sizes: spread[-1] *= 2
        if layout == 'Offset' and sizes: spread[0] += 1
        if layout == 'Expanded' and sizes: spread[0] = min(spread[0], 1)
        places = (torch.arange(math.prod(spread)) * 37 + 11 * seed).remainder(101)
        if dtype.is_floating_point: x = ((places - 50).to(f64) / 32).to(dtype)
        else: x = places.remainder(2 if dtype == torch.bool else 5).to(dtype)
        x = x.view(spread)
        if layout == 'Transposed' and many: x = x.transpose(0, -1)
        if layout == 'Stepped' and sizes: x = aten.slice(x, -1, 0, spread[-1], 2)
        if layout == 'Offset' and sizes: x = x.narrow(0, 1, sizes[0])
        if layout == 'Expanded' and sizes: x = x.expand(sizes)
        return x.data

def make_like(x, seed, layout=None):
    if layout is None: return make(list(x.shape), x.dtype, seed)
    return make(list(x.shape), x.dtype, seed, LAYOUTS[layout]).requires_grad_(x.requires_grad)

def seed_like(x, seed): return make(list(x.shape), x.dtype, seed)

def fit(x, sizes, low, high, dtype):
    y, count = x.to(dtype), math.prod(sizes)
    if y.numel() != count: y = y.reshape([-1]).index_select(0, torch.arange(count).remainder(y.numel()))
    return (y.reshape(sizes).sin() * 0.5 + 0.5) * (high - low) + low

def row(f, inputs):
    y = f(inputs)
    return tuple(y) if isinstance(y, (tuple, list)) else (y,)

OWN = {}
def own_input(name, sample, place, text): OWN[name, sample, place] = tensor_of(text)
def own(name, sample, place): return OWN[name, sample, place].clone()

def resize(x, n):
    before, wanted = x.numel(), 1 + n % 12
    x.resize_([wanted])
    if wanted > before: x.detach().fill_(0.5)

def garbage(n): pass

def overlap(a, b, seed, apart):
    whole = make([a.numel() + b.numel() + apart], a.dtype, seed)
    def part(x, first):
        return whole.narrow(0, first, x.numel()).view(x.shape).detach().requires_grad_(x.requires_grad)
    return part(a, 0), part(b, apart)

def within(a, b, first):
    return b.detach().as_strided(a.shape, a.stride(), first).detach().requires_grad_(a.requires_grad)

# Modules and optimizers.
def fill(module, seed):
    with torch.no_grad():
        for i, p in enumerate(module.parameters()): p.copy_(make(list(p.shape), p.dtype, seed + i) * 0.25)

def to_double_and_back(module):  # buffers of integers too, as in C++
    before = next((p.dtype for p in module.parameters()), torch.float32)
    module._apply(lambda x: x.to(f64))
    module._apply(lambda x: x.to(before))

def filled(module, in_double, seed):
    if in_double: module._apply(lambda x: x.to(f64))
    fill(module, seed)
    return module

def parameters(x): return [x] if isinstance(x, torch.Tensor) else list(x.parameters())

def times(tensors, factor):
    return tuple(None if x is None else x * factor for x in tensors)

def set_rate(optimizer, rate):
    for group in optimizer.param_groups: group['lr'] = rate

# Functions of the user.
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        y = x * x * x
        context.save_for_backward(x, y)
        return y
    @staticmethod
    def backward(context, g):
        x, y = context.saved_tensors
        return g * x * x * 3

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        x.mul_(2)
        context.mark_dirty(x)
        return x
    @staticmethod
    def backward(context, g): return g * 2

class Parted(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        y = x.neg(), x.sign()
        context.mark_non_differentiable(y[1])
        return y
    @staticmethod
    def backward(context, g, _): return g.neg()

class Rewritten:
    @staticmethod
    def apply(x):
        def f(t):
            h = t * 2
            return h.add_(h.tanh())
        return torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)

# Parts of rows' expressions.
def reduced(f): return [f('none'), f('sum'), f('mean')]
def samples(x, *numbers): return torch.tensor([[numbers, numbers]], dtype=x.dtype)
def assigned(x, place, y):
    x = x.clone()
    x[place] = y
    return x
def tame(x):
    return x if x.dim() < 2 else x / max(x.size(-1), 1) + 2 * torch.eye(x.size(-2), x.size(-1), dtype=x.dtype)
def gram(x): return tame(x) @ tame(x).mT
def spread(x): return x @ x.mT / max(x.size(-1), 1) + torch.diag(torch.arange(1, x.size(-2) + 1, dtype=x.dtype))
def graded(x):
    steps = torch.arange(1, x.size(-2) + 1, dtype=x.dtype).unsqueeze(-1)
    return x / 4 + torch.eye(x.size(-2), x.size(-1), dtype=x.dtype) * steps
def low(x): return x.tril(-1) + x.tril(-1).mT + x.diagonal(0, -2, -1).diag_embed()
def indefinite(x): return (x + x.mT) / 2 + 4 * torch.eye(x.size(-1), dtype=x.dtype).flip(0)

# Texts of tensors: dtype | flags | sizes | strides | the bytes of the numbers.
DTYPES = {'f64': f64, 'f32': torch.float32, 'f16': torch.float16, 'bf16': torch.bfloat16, 'i64': torch.int64,
          'i32': torch.int32, 'i16': torch.int16, 'i8': torch.int8, 'u8': torch.uint8, 'bool': torch.bool}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
# Of the largest magnitude of a tensor. Before every statement both sides have the same numbers, so that
# errors do not add up; what a backward gives may have passed through the coarsest dtype of the program.
BOUNDS = {'f64': 1e-9, 'f32': 1e-4, 'f16': 4e-2, 'bf16': 4e-2}

def list_of(text): return [int(n) for n in text.split(',')] if text else []

def numbers_of(digits, dtype):
    return torch.frombuffer(bytearray.fromhex(digits), dtype=dtype) if digits else torch.empty([0], dtype=dtype)

def tensor_of(text):
    dtype, flags, sizes, strides, numbers = text.split('|')
    return numbers_of(numbers, DTYPES[dtype]).reshape(list_of(sizes))

def strides_of(x):
    if x.numel() == 0: return ''
    return ','.join(str(step) for n, step in zip(x.shape, x.stride()) if n > 1)

def shown(values, at):
    return '%.9g' % values[at]

def difference(x, text, bound):
    """Class and words; None where x is as the text says. Moves x to the text's numbers."""
    if (x is None) != (text == 'undefined'): return 'defined', 'undefined' if x is None else 'defined'
    if x is None: return None
    dtype, flags, sizes, strides, numbers = text.split('|')
    if NAMES.get(x.dtype) != dtype: return 'dtype', '%s, ebb %s' % (NAMES.get(x.dtype, x.dtype), dtype)
    if list(x.shape) != list_of(sizes): return 'shape', '%s, ebb %s' % (list(x.shape), list_of(sizes))
    if x.requires_grad != ('g' in flags): return 'requires_grad', str(x.requires_grad)
    got, expected = x.detach().reshape([-1]), numbers_of(numbers, x.dtype)
    if not torch.equal(got, expected):
        got, expected = got.to(f64).numpy(force=True), expected.to(f64).numpy()
        both = numpy.isfinite(got) & numpy.isfinite(expected)
        other = (got != expected) & ~(numpy.isnan(got) & numpy.isnan(expected)) & ~both
        if other.any():
            at = int(other.argmax())
            return 'nan or inf', '[%d] %s, ebb %s' % (at, shown(got, at), shown(expected, at))
        if both.any():
            error = numpy.where(both, numpy.abs(numpy.where(both, got, 0) - numpy.where(both, expected, 0)), 0)
            scale = max(numpy.abs(got[both]).max(), numpy.abs(expected[both]).max())
            if dtype not in BOUNDS: bound = 0
            if error.max() > bound * scale:
                at = int(error.argmax())
                return 'value', '[%d] %s, ebb %s, of %.3g' % (at, shown(got, at), shown(expected, at), scale)
            if dtype in BOUNDS:
                try: x.data.copy_(tensor_of(text))
                except RuntimeError: pass  # memory that several elements share
    if x.is_leaf != ('l' in flags): return 'leaf', str(x.is_leaf)
    if strides_of(x) != strides: return 'strides', '%s, ebb %s' % (strides_of(x), strides)
    return None

def look(env, label):
    name, *parts = label.split('.')
    x = env.get(name)
    for part in parts:
        if part[0] == 'p': x = list(x.parameters())[int(part[1:])]
        elif part[0] == 'b': x = [b for b in x.buffers()][int(part[1:])]
        else: x = x.grad
    return x

totals, programs_run, statements_run = collections.Counter(), 0, 0
BASE = dict(globals())

class Disagreement(Exception): pass

def differ(kind, where, words, soft, text):
    key = kind + (' [after other strides]' if soft else '')
    raise Disagreement(key, where, words, text)

def program(seed, fault, texts, steps):
    global programs_run, statements_run
    programs_run += 1
    env, last, soft, done, coarsest = dict(BASE), {}, [], [], 0
    codes = [compile(text, '<program %d>' % seed, 'exec') for text in texts]
    try:
        for index, threw, gone, changes in steps:
            if index < 0:
                for name in gone: env.pop(name, None)
                last = {label: text for label, text in last.items() if label.split('.')[0] not in gone}
                changes = list(last.items())
                text = 'end of a call'
            else:
                text, error = texts[index], None
                done.append(text)
                statements_run += 1
                try: exec(codes[index], env)
                except Exception as e: error = e
                if error is not None and not threw: differ('PyTorch has no kernel' if 'not implemented for \'' in str(error) else 'PyTorch throws', text, str(error).split('\n')[0][:150], soft, done)
                if threw and error is None: differ('ebb throws', text, threw[:150], soft, done)
            used = [last[n] for n in re.findall(r'\bt\d+\b', text) if n in last] + [c[1] for c in changes]
            bound = max([BOUNDS.get(u.split('|')[0], 0) for u in used] + [4e-2 if 'autocast' in text else 0])
            coarsest = max(coarsest, bound)
            if re.search(r'backward\(|autograd.grad|\.grad|step\(|end of', text): bound = coarsest
            for label, described in changes:
                try: found = difference(look(env, label), described, bound)
                except Exception as e: found = 'throws when looked at', str(e).split('\n')[0][:100]
                if described == 'throws': found = None if found and found[0].startswith('throws') else ('ebb throws when looked at', '')
                if found and found[0] == 'strides':
                    if not soft:
                        soft.append(text)
                        note('strides', seed, text, label + ' ' + found[1], done, fault)
                elif found: differ(found[0], text, label + ' ' + found[1], soft, done)
            last.update(changes)
    except Disagreement as e: note(*e.args[:1], seed, *e.args[1:], fault)

def note(kind, seed, where, words, done, fault):
    key = (kind, 'known: ' + fault if fault else '')
    totals[key] += 1
    print('program %d: %s: %s: %s %s' % (seed, kind, where, words, key[1]))
    if '--slices' in sys.argv:
        wanted, kept = set(re.findall(r'\bt\d+\b', where)), []
        for text in reversed(done):
            names = set(re.findall(r'\bt\d+\b', text))
            if names & wanted:
                kept.append(text)
                wanted |= names
        print('    ' + '\n    '.join(reversed(kept)))

def row_check(name, sample, dtype, f, twin, inputs, leaves, outputs, grads, written):
    global programs_run
    programs_run += 1
    bound, label = BOUNDS[dtype], '%s %d %s' % (name, sample, dtype)
    def check(what, x, text):
        found = difference(x, text, bound)
        if found: note_row(found[0], label, what + ' ' + found[1])
    try:
        x = [tensor_of(text) for text in inputs]
        x = [y.requires_grad_() if i in leaves else y for i, y in enumerate(x)]
        got = row(f, x)
    except Exception as e:
        if outputs != 'throws': note_row('PyTorch throws', label, str(e).split('\n')[0][:150])
        got = None
    if got is not None and outputs == 'throws': note_row('ebb throws', label, '')
    elif got is not None:
        if len(got) != len(outputs): note_row('count', label, '%d, ebb %d' % (len(got), len(outputs)))
        made = [y for y in got if y.dtype.is_floating_point and y.requires_grad]
        seeds = [((torch.arange(y.numel()) % 61 + 5) / 32.0).to(y.dtype).view(y.shape) for y in made]
        wanted = [y for y in x if y.requires_grad]
        if grads is not None and wanted:
            try:
                slopes = torch.autograd.grad(made, wanted, seeds, allow_unused=True) if made else [None] * len(wanted)
            except Exception as e:
                if grads != 'throws': note_row('PyTorch throws in backward', label, str(e).split('\n')[0][:150])
            else:
                if grads == 'throws': note_row('ebb throws in backward', label, '')
                else:
                    for i, (g, text) in enumerate(zip(slopes, grads)): check('gradient %d' % i, g, text)
        for i, (y, text) in enumerate(zip(got, outputs)): check('output %d' % i, y, text)
    if twin:
        try:
            x = [tensor_of(text) for text in inputs]
            twin(x)
        except Exception as e:
            if written != 'throws': note_row('PyTorch throws in place', label, str(e).split('\n')[0][:150])
        else:
            if written == 'throws': note_row('ebb throws in place', label, '')
            else: check('in place', x[0], written)

def note_row(kind, label, words):
    if 'not implemented for \'' in words: kind = 'PyTorch has no kernel'
    totals[kind, ''] += 1
    print('row %s: %s: %s' % (label, kind, words))

def finish():
    print('%d programs or rows, %d statements, PyTorch %s' % (programs_run, statements_run, torch.__version__))
    for (kind, known), times in totals.most_common(): print('%6d %s %s' % (times, kind, known))
    sys.exit(1 if any(not known and not kind.startswith('strides') for kind, known in totals) else 0)
)py";

}  // namespace programs
