// Views, in-place changes of geometry, and writes to tensors, which may be views or bases of views.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

#include "random_programs/kinds.h"

#include <algorithm>

// Views, and in-place changes of geometry.

namespace programs {
namespace {

using Numbers = std::vector<std::int64_t>;

/// A view: its numbers for a tensor, and how it is created and printed.
struct View {
  const char* name;
  /// Returns nothing if the tensor has no such view.
  Numbers (*draw)(Draw&, const Variable&);
  Variable (*make)(const Variable&, const Numbers&);
  /// The method call, with #0, #1 for numbers and #* for all of them as a list.
  const char* text;
  /// The in-place form of the method; nullptr if there is none.
  Variable (*change)(const Variable&, const Numbers&) = nullptr;
};

std::int64_t dim_of(Draw& draw, const Variable& x) { return draw.between(-x.dim(), x.dim() - 1); }

Numbers two_dims(Draw& draw, const Variable& x) {
  if (x.dim() < 1) return {};
  return {dim_of(draw, x), dim_of(draw, x)};
}
Numbers permuted(Draw& draw, const Variable& x) {
  Numbers dims;
  for (std::int64_t d = 0; d < x.dim(); ++d) dims.insert(dims.begin() + draw.below(d + 1), d);
  return dims;
}
// Splits a size into factors, or merges adjacent sizes.
Numbers viewed(Draw& draw, const Variable& x) {
  Numbers sizes = x.sizes().vec();
  if (sizes.empty()) return {1};
  const std::size_t d = static_cast<std::size_t>(draw.below(x.dim()));
  const bool joins = d + 1 < sizes.size() && draw.once_in(2);
  if (joins) {
    sizes[d] *= sizes[d + 1];
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    return sizes;
  }
  for (const std::int64_t factor : {2, 3, 1})
    if (sizes[d] % factor == 0) {
      sizes[d] /= factor;
      sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(d), factor);
      return sizes;
    }
  return sizes;
}
Numbers expanded(Draw& draw, const Variable& x) {
  Numbers sizes = x.sizes().vec();
  for (std::int64_t& n : sizes)
    if (n == 1) n = draw.between(1, 3);
  if (draw.once_in(2)) sizes.insert(sizes.begin(), draw.between(1, 2));
  return sizes;
}
Numbers one_index(Draw& draw, const Variable& x) {
  if (x.dim() == 0) return {};
  const std::int64_t d = dim_of(draw, x), n = x.size(d);
  if (n == 0) return {};
  return {d, draw.between(-n, n - 1)};
}
Numbers sliced(Draw& draw, const Variable& x) {
  if (x.dim() == 0) return {};
  const std::int64_t d = dim_of(draw, x), n = x.size(d),
                     start = draw.between(0, std::max<std::int64_t>(n - 1, 0));
  return {d, start, draw.between(start, n + 1), draw.between(1, 3)};
}
Numbers narrowed(Draw& draw, const Variable& x) {
  if (x.dim() == 0) return {};
  const std::int64_t d = dim_of(draw, x), n = x.size(d), start = draw.between(0, n);
  return {d, start, draw.between(0, n - start)};
}
Numbers unsqueezed(Draw& draw, const Variable& x) {
  if (x.dim() > 4) return {};
  return {draw.between(-x.dim() - 1, x.dim())};
}
Numbers diagonalized(Draw& draw, const Variable& x) {
  if (x.dim() < 2) return {};
  const std::int64_t first = draw.below(x.dim()), second = (first + draw.between(1, x.dim() - 1)) % x.dim();
  return {draw.between(-1, 1), first, second};
}
Numbers unfolded(Draw& draw, const Variable& x) {
  if (x.dim() == 0) return {};
  const std::int64_t d = dim_of(draw, x), n = x.size(d);
  if (n == 0) return {};
  return {d, draw.between(1, n), draw.between(1, 2)};
}
// Two dimensions anywhere in the memory of the tensor, overlapping or not.
Numbers strided(Draw& draw, const Variable& x) {
  std::int64_t last = 0;  // the offset of the farthest element from the first
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (x.size(d) == 0) return {};
    last += (x.size(d) - 1) * x.stride(d);
  }
  const std::int64_t rows = draw.between(1, 3), columns = draw.between(1, 3);
  const std::int64_t down = draw.between(0, 3), right = draw.between(0, 2);
  const std::int64_t reach = (rows - 1) * down + (columns - 1) * right;
  if (reach > last) return {};
  return {rows, columns, down, right, x.storage_offset() + draw.between(0, last - reach)};
}
Numbers none(Draw&, const Variable&) { return {0}; }
Numbers of_matrix(Draw&, const Variable& x) { return x.dim() <= 2 ? Numbers{0} : Numbers{}; }
Numbers one_dim(Draw& draw, const Variable& x) { return x.dim() ? Numbers{dim_of(draw, x)} : Numbers{}; }

using X = const Variable&;
using N = const Numbers&;

const std::vector<View> views = {
    {"transpose", two_dims, [](X x, N n) { return x.transpose(n[0], n[1]); }, "transpose(#0, #1)",
     [](X x, N n) -> Variable { return x.transpose_(n[0], n[1]); }},
    {"swapaxes", two_dims, [](X x, N n) { return x.swapaxes(n[0], n[1]); }, "swapaxes(#0, #1)",
     [](X x, N n) -> Variable { return x.swapaxes_(n[0], n[1]); }},
    {"t", of_matrix, [](X x, N) { return x.t(); }, "t()", [](X x, N) -> Variable { return x.t_(); }},
    {"permute", permuted, [](X x, N n) { return x.permute(n); }, "permute(#*)"},
    {"movedim", two_dims, [](X x, N n) { return x.movedim(n[0], n[1]); }, "movedim(#0, #1)"},
    {"view", viewed, [](X x, N n) { return x.view(n); }, "view(#*)"},
    {"reshape", viewed, [](X x, N n) { return x.reshape(n); }, "reshape(#*)"},
    {"flatten", none, [](X x, N) { return x.flatten(); }, "flatten()"},
    {"expand", expanded, [](X x, N n) { return x.expand(n); }, "expand(#*)"},
    {"select", one_index, [](X x, N n) { return x.select(n[0], n[1]); }, "select(#0, #1)"},
    {"slice", sliced, [](X x, N n) { return x.slice(n[0], n[1], n[2], n[3]); }, "slice(#0, #1, #2, #3)"},
    {"narrow", narrowed, [](X x, N n) { return x.narrow(n[0], n[1], n[2]); }, "narrow(#0, #1, #2)"},
    {"unsqueeze", unsqueezed, [](X x, N n) { return x.unsqueeze(n[0]); }, "unsqueeze(#0)",
     [](X x, N n) -> Variable { return x.unsqueeze_(n[0]); }},
    {"squeeze", none, [](X x, N) { return x.squeeze(); }, "squeeze()",
     [](X x, N) -> Variable { return x.squeeze_(); }},
    {"squeeze.dim", one_dim, [](X x, N n) { return x.squeeze(n[0]); }, "squeeze(#0)",
     [](X x, N n) -> Variable { return x.squeeze_(n[0]); }},
    {"diagonal", diagonalized, [](X x, N n) { return x.diagonal(n[0], n[1], n[2]); }, "diagonal(#0, #1, #2)"},
    {"unfold", unfolded, [](X x, N n) { return x.unfold(n[0], n[1], n[2]); }, "unfold(#0, #1, #2)"},
    {"as_strided", strided, [](X x, N n) { return x.as_strided({n[0], n[1]}, {n[2], n[3]}, n[4]); },
     "as_strided((#0, #1), (#2, #3), #4)",
     [](X x, N n) -> Variable { return x.as_strided_({n[0], n[1]}, {n[2], n[3]}, n[4]); }},
    {"detach", none, [](X x, N) { return x.detach(); }, "detach()"},
    {"alias", none, [](X x, N) { return x.view_as(x); }, "view_as(#x)"},
};

const View& view_named(const std::string& name) {
  for (const View& each : views)
    if (name == each.name) return each;
  return views.back();
}

bool draw_view(Draw& draw, const State& state, Statement& s, bool in_place) {
  const View& view = draw.of(views);
  if (in_place && !view.change) return false;
  const auto slot = pick(draw, state, [](const Slot& each) { return each.is_tensor(); });
  if (!slot) return false;
  s.name = view.name;
  s.in = {*slot};
  s.numbers = view.draw(draw, state.tensor(*slot));
  return !s.numbers.empty();
}

// The text with its numbers; as an in-place method if requested.
std::string said(const Statement& s, Language language, bool in_place) {
  const std::string x = slot_text(s.in[0]);
  std::string pattern = view_named(s.name).text, out;
  if (s.name == "slice" && language == Language::python)  // a method that exists only in C++
    return slot_text(s.out[0]) + " = torch.ops.aten.slice(" + x + ", *" + list_text(s.numbers, language) +
           ")";
  if (in_place) pattern.insert(pattern.find('('), "_");
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '#') {
      const char what = pattern[++i];
      out += what == '*'   ? list_text(s.numbers, language)
             : what == 'x' ? x
                           : std::to_string(s.numbers[static_cast<std::size_t>(what - '0')]);
    } else if (i > 0 && language == Language::cpp && (pattern[i] == '(' || pattern[i] == ')') &&
               pattern.find('(') != i && i + 1 != pattern.size()) {
      out += pattern[i] == '(' ? '{' : '}';
    } else {
      out += pattern[i];
    }
  }
  return (in_place ? "" : slot_text(s.out[0]) + " = ") + x + "." + out +
         (language == Language::cpp ? ";" : "");
}

const bool added =
    add_kind({"view", 30, kSetup | kBody,
              [](Draw& draw, const State& state, Statement& s) {
                s.out = {0};
                return draw_view(draw, state, s, false);
              },
              [](State& state, const Statement& s) {
                state[s.out[0]] = Slot{.tensor = view_named(s.name).make(state.tensor(s.in[0]), s.numbers)};
              },
              [](const Statement& s, Language l) { return said(s, l, false); }, true}) &&
    add_kind({"geometry", 4, kBody | kBetween,
              [](Draw& draw, const State& state, Statement& s) { return draw_view(draw, state, s, true); },
              [](State& state, const Statement& s) {
                view_named(s.name).change(state.tensor(s.in[0]), s.numbers);
              },
              [](const Statement& s, Language l) { return said(s, l, true); }}) &&
    // Selects another element in each call.
    add_kind({"turn", 4, kBody,
              [](Draw& draw, const State& state, Statement& s) {
                const auto slot = pick(draw, state, [](const Slot& each) {
                  return each.is_tensor() && each.tensor.numel() >= 10 && each.tensor.is_contiguous();
                });
                if (!slot) return false;
                s.in = {*slot};
                s.out = {0};
                return true;
              },
              [](State& state, const Statement& s) {
                state[s.out[0]] = Slot{.tensor = state.tensor(s.in[0]).view({-1}).narrow(0, state.call, 2)};
              },
              [](const Statement& s, Language l) {
                return (l == Language::cpp ? "Tensor " : "") + slot_text(s.out[0]) + " = " +
                       slot_text(s.in[0]) + (l == Language::cpp ? ".view({-1})" : ".view([-1])") +
                       ".narrow(0, " + (l == Language::cpp ? "number_of_call" : "0") + ", 2)" +
                       (l == Language::cpp ? ";" : "");
              }});

}  // namespace

// Writes to tensors, which may be views or bases of views.

namespace {

/// An in-place method with an operand: a tensor, a number (in units of 1/8), or none.
struct Write {
  const char* name;
  void (*with_tensor)(const Variable&, const Variable&);
  void (*with_number)(const Variable&, double);
  const char* arguments = "#";  ///< arguments of the method in source text
};

using X = const Variable&;
const std::vector<Write> writes = {
    {"add_", [](X x, X y) { x.add_(y, 2); }, [](X x, double n) { x.add_(n); }, "#, 2"},
    {"sub_", [](X x, X y) { x.sub_(y); }, [](X x, double n) { x.sub_(n); }},
    {"mul_", [](X x, X y) { x.mul_(y); }, [](X x, double n) { x.mul_(n); }},
    {"div_", nullptr, [](X x, double n) { x.div_(n + 8); }, "# + 8"},
    {"copy_", [](X x, X y) { x.copy_(y); }, nullptr},
    {"fill_", nullptr, [](X x, double n) { x.fill_(n); }},
    {"zero_", nullptr, [](X x, double) { x.zero_(); }, ""},
    {"neg_", nullptr, [](X x, double) { x.neg_(); }, ""},
    {"relu_", nullptr, [](X x, double) { x.relu_(); }, ""},
    {"tanh_", nullptr, [](X x, double) { x.tanh_(); }, ""},
    {"sigmoid_", nullptr, [](X x, double) { x.sigmoid_(); }, ""},
    {"clamp_min_", [](X x, X y) { x.clamp_min_(y); }, [](X x, double n) { x.clamp_min_(n); }},
    {"pow_", nullptr, [](X x, double) { x.pow_(2); }, "2"},
    {"addcmul_", [](X x, X y) { x.addcmul_(y, y, 0.5); }, nullptr, "#, #, value=0.5"},
    {"lerp_", [](X x, X y) { x.lerp_(y, 0.25); }, nullptr, "#, 0.25"},
    {"masked_fill_", [](X x, X y) { x.masked_fill_(y > 0, 0.5); }, nullptr, "# > 0, 0.5"},
    {"set_data", [](X x, X y) { x.set_data(y); }, nullptr},
};

const Write& write_named(const std::string& name) {
  for (const Write& each : writes)
    if (name == each.name) return each;
  return writes.back();
}

bool broadcasts_to(const Variable& y, const Variable& x) {
  if (y.dim() > x.dim()) return false;
  for (std::int64_t d = 1; d <= y.dim(); ++d)
    if (y.size(-d) != 1 && y.size(-d) != x.size(-d)) return false;
  return true;
}

bool draw_write(Draw& draw, const State& state, Statement& s) {
  const Write& write = draw.of(writes);
  const auto is_seen_by_others = [&](const Slot& slot) {
    return slot.is_tensor() && std::any_of(state.slots.begin(), state.slots.end(), [&](const Slot& other) {
             return &other != &slot && other.is_tensor() && other.tensor.is_alias_of(slot.tensor);
           });
  };
  std::optional<int> target;
  if (draw.once_in(2)) target = pick(draw, state, is_seen_by_others);
  if (!target) target = pick(draw, state, [](const Slot& slot) { return slot.is_tensor(); });
  if (!target) return false;
  s.name = write.name;
  s.in = {*target};
  const Variable& x = state.tensor(*target);
  // Leaves that need gradients are mostly written under no_grad, as optimizers do.
  if (x.is_leaf() && x.requires_grad() && !draw.once_in(20)) s.modes |= kNoGrad;
  if (write.with_tensor && (!write.with_number || draw.once_in(2))) {
    const auto source = pick(draw, state, [&](const Slot& slot) {
      return slot.is_tensor() && broadcasts_to(slot.tensor, x) &&
             ebb::can_cast(slot.tensor.dtype(), x.dtype());
    });
    if (!source) return false;
    s.in.push_back(*source);
    return true;
  }
  s.numbers = {draw.between(-16, 16)};
  return write.with_number != nullptr;
}

void run_write(State& state, const Statement& s) {
  const Write& write = write_named(s.name);
  if (s.in.size() > 1)
    write.with_tensor(state.tensor(s.in[0]), state.tensor(s.in[1]));
  else
    write.with_number(state.tensor(s.in[0]), static_cast<double>(s.numbers[0]) / 8);
}

std::string written(const Statement& s, Language language) {
  const std::string x = slot_text(s.in[0]);
  std::string arguments = write_named(s.name).arguments;
  const std::string operand = s.in.size() > 1 ? slot_text(s.in[1]) : std::to_string(s.numbers[0]) + "/8.0";
  if (s.in.size() < 2 && s.name == "add_") arguments = "#";
  if (s.name == "add_" && s.in.size() > 1 && language == Language::python) arguments = "#, alpha=2";
  if (s.name == "addcmul_" && language == Language::cpp) arguments = "#, #, 0.5";
  for (std::size_t at; (at = arguments.find('#')) != std::string::npos;) arguments.replace(at, 1, operand);
  if (s.name == "set_data" && language == Language::python) return x + ".data = " + operand;
  return x + "." + s.name + "(" + arguments + ")" + (language == Language::cpp ? ";" : "");
}

const bool added_write = add_kind({"write", 25, kBody | kBetween, draw_write, run_write, written});

}  // namespace
}  // namespace programs
