// Statements that create tensors: from numbers, and from others by casts, copies, joins and splits.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include "random_programs/kinds.h"

namespace programs {
namespace {

const std::vector<ebb::DType> floating = {ebb::kFloat, ebb::kDouble, ebb::kFloat, ebb::kBFloat16, ebb::kHalf};
const std::vector<ebb::DType> integral = {ebb::kLong, ebb::kInt,   ebb::kByte,
                                          ebb::kBool, ebb::kShort, ebb::kChar};
const std::vector<Sizes> shapes = {{3},          {4},          {2, 3},    {3, 4},    {4, 4},
                                   {1, 3},       {},           {2, 3, 4}, {2, 1, 3}, {2, 4, 4},
                                   {1, 2, 4, 4}, {2, 2, 3, 3}, {6},       {0, 3},    {33}};

const std::vector<Sizes> large_shapes = {{40000}, {3, 20000}, {200, 150}, {20000, 2}, {2, 3, 70, 80}};
const std::vector<Sizes> medium_shapes = {{2000}, {3, 700}, {40, 40}, {700, 2}, {50, 50}, {2, 3, 12, 15}};

const std::vector<Sizes>& shapes_of(Draw& draw, const State& state) {
  if (!state.is_large() || !draw.once_in(2)) return shapes;
  return state.most_elements < 1 << 17 ? medium_shapes : large_shapes;
}

// numbers of "make": dtype, seed, layout, requires_grad, sizes.
bool draw_make(Draw& draw, const State& state, Statement& s) {
  const ebb::DType dtype = draw.once_in(6) ? draw.of(integral) : draw.of(floating);
  const bool grad = ebb::is_floating(dtype) && draw.once_in(2);
  s.out = {0};
  s.numbers = {static_cast<std::int64_t>(dtype), draw.below(100),
               draw.once_in(2) ? draw.below(kLayouts) : kWhole, grad};
  const Sizes& sizes = draw.of(shapes_of(draw, state));
  s.numbers.insert(s.numbers.end(), sizes.begin(), sizes.end());
  return true;
}
Variable made(const Statement& s) {
  return make(Sizes(s.numbers.begin() + 4, s.numbers.end()), static_cast<ebb::DType>(s.numbers[0]),
              s.numbers[1], static_cast<Layout>(s.numbers[2]))
      .set_requires_grad(s.numbers[3] != 0);
}
std::string made_text(const Statement& s, Language l) {
  static const char* const layouts[] = {"kWhole", "kTransposed", "kStepped", "kOffset", "kExpanded"};
  const std::string layout = layouts[s.numbers[2]];
  const std::string call =
      "make(" + list_text(Sizes(s.numbers.begin() + 4, s.numbers.end()), l) + ", " +
      dtype_text(static_cast<ebb::DType>(s.numbers[0]), l) + ", " + std::to_string(s.numbers[1]) +
      (s.numbers[2] == kWhole ? "" : ", " + (l == Language::cpp ? layout : "'" + layout.substr(1) + "'")) +
      ")" + (s.numbers[3] ? ".requires_grad_()" : "");
  return (l == Language::cpp ? "Tensor " : "") + slot_text(s.out[0]) + " = " + call +
         (l == Language::cpp ? ";" : "");
}

const bool added_make = add_kind(
    {"make", 6, kSetup | kBody, draw_make,
     [](State& state, const Statement& s) { state[s.out[0]] = Slot{.tensor = made(s)}; }, made_text});

/// A function of one tensor and optionally a number.
struct Copy {
  const char* name;
  Variable (*make)(const Variable&);
};
using X = const Variable&;
const std::vector<Copy> copies = {
    {"clone", [](X x) { return x.clone(); }},
    {"contiguous", [](X x) { return x.contiguous(); }},
    {"t().contiguous", [](X x) { return x.t().contiguous(); }},
    {"detach().clone", [](X x) { return x.detach().clone(); }},
    {"sum", [](X x) { return x.sum(); }},
    {"ravel", [](X x) { return x.ravel(); }},
};
const bool added_copy =
    add_kind({"copy", 6, kSetup | kBody,
              [](Draw& draw, const State& state, Statement& s) {
                const auto slot = pick(draw, state, [](const Slot& each) { return each.is_tensor(); });
                if (!slot) return false;
                s.name = draw.of(copies).name;
                s.in = {*slot};
                s.out = {0};
                return true;
              },
              [](State& state, const Statement& s) {
                for (const Copy& each : copies)
                  if (s.name == each.name) state[s.out[0]] = Slot{.tensor = each.make(state.tensor(s.in[0]))};
              },
              [](const Statement& s, Language l) {
                return (l == Language::cpp ? "Tensor " : "") + slot_text(s.out[0]) + " = " +
                       slot_text(s.in[0]) + "." + s.name + (l == Language::cpp ? "();" : "()");
              },
              true});

const bool added_cast = add_kind(
    {"cast", 6, kSetup | kBody,
     [](Draw& draw, const State& state, Statement& s) {
       const auto slot = pick(draw, state, [](const Slot& each) { return each.is_tensor(); });
       if (!slot) return false;
       s.in = {*slot};
       s.out = {0};
       s.numbers = {static_cast<std::int64_t>(draw.once_in(4) ? draw.of(integral) : draw.of(floating))};
       return true;
     },
     [](State& state, const Statement& s) {
       state[s.out[0]] = Slot{.tensor = state.tensor(s.in[0]).to(static_cast<ebb::DType>(s.numbers[0]))};
     },
     [](const Statement& s, Language l) {
       return (l == Language::cpp ? "Tensor " : "") + slot_text(s.out[0]) + " = " + slot_text(s.in[0]) +
              ".to(" + dtype_text(static_cast<ebb::DType>(s.numbers[0]), l) +
              (l == Language::cpp ? ");" : ")");
     }});

/// An op of two or three tensors of any dtypes, with type promotion.
struct Join {
  const char* name;
  std::size_t inputs;
  bool broadcasts;  ///< otherwise all tensors have one shape
  Variable (*make)(const std::vector<Variable>&);
  const char* text;  ///< #0, #1 and #2 are the tensors, @ is the namespace prefix
};
using L = const std::vector<Variable>&;
const std::vector<Join> joins = {
    {"cat", 2, false, [](L x) { return ebb::cat({x[0], x[1]}); }, "@cat([#0, #1])"},
    {"cat.last", 3, false, [](L x) { return ebb::cat({x[0], x[1], x[2]}, -1); }, "@cat([#0, #1, #2], -1)"},
    {"stack", 2, false, [](L x) { return ebb::stack({x[0], x[1]}, -1); }, "@stack([#0, #1], -1)"},
    {"where", 3, true, [](L x) { return ebb::where(x[0] > 0, x[1], x[2]); }, "@where(#0 > 0, #1, #2)"},
    {"add", 2, true, [](L x) { return x[0] + x[1]; }, "#0 + #1"},
    {"sub", 2, true, [](L x) { return ebb::sub(x[0], x[1].to(ebb::kFloat), 0.5); },
     "@sub(#0, #1.to(@kFloat), alpha=0.5)"},
    {"mul", 2, true, [](L x) { return x[0] * x[1]; }, "#0 * #1"},
    {"div", 2, true, [](L x) { return x[0] / (x[1] * x[1] + 1); }, "#0 / (#1 * #1 + 1)"},
    {"maximum", 2, true, [](L x) { return ebb::maximum(x[0], x[1]); }, "@maximum(#0, #1)"},
    {"lt", 2, true, [](L x) { return x[0] < x[1]; }, "#0 < #1"},
};
const Join& join_named(const std::string& name) {
  for (const Join& each : joins)
    if (name == each.name) return each;
  return joins.back();
}
const bool added_join =
    add_kind({"join", 14, kSetup | kBody,
              [](Draw& draw, const State& state, Statement& s) {
                const Join& join = draw.of(joins);
                s.name = join.name;
                s.out = {0};
                for (std::size_t i = 0; i < join.inputs; ++i) {
                  const auto slot = pick(draw, state, [&](const Slot& each) {
                    if (!each.is_tensor() || each.tensor.numel() > state.most_elements / 4) return false;
                    if (i == 0) return true;
                    const Variable& x = state.tensor(s.in[0]);
                    return each.tensor.sizes() == x.sizes() || (join.broadcasts && each.tensor.numel() == 1);
                  });
                  if (!slot) return false;
                  s.in.push_back(*slot);
                }
                return true;
              },
              [](State& state, const Statement& s) {
                std::vector<Variable> inputs;
                for (const int i : s.in) inputs.push_back(state.tensor(i));
                state[s.out[0]] = Slot{.tensor = join_named(s.name).make(inputs)};
              },
              [](const Statement& s, Language l) {
                std::string said, pattern = join_named(s.name).text;
                for (std::size_t i = 0; i < pattern.size(); ++i) {
                  if (pattern[i] == '#')
                    said += slot_text(s.in[static_cast<std::size_t>(pattern[++i] - '0')]);
                  else if (pattern[i] == '@' && pattern.compare(i + 1, 6, "kFloat") == 0)
                    said += dtype_text(ebb::kFloat, l), i += 6;
                  else if (pattern[i] == '@')
                    said += prefix(l);
                  else if (l == Language::cpp && (pattern[i] == '[' || pattern[i] == ']'))
                    said += pattern[i] == '[' ? '{' : '}';
                  else
                    said += pattern[i];
                }
                if (l == Language::cpp && said.find("alpha=") != std::string::npos)
                  said.erase(said.find("alpha="), 6);
                return (l == Language::cpp ? "Tensor " : "") + slot_text(s.out[0]) + " = " + said +
                       (l == Language::cpp ? ";" : "");
              },
              true});

/// A split of a tensor, of which two parts are used.
struct Parts {
  const char* name;
  std::vector<Variable> (*make)(const Variable&);
  const char* text;
};
const std::vector<Parts> parts = {
    {"split", [](X x) { return x.split(1, 0); }, "split(1, 0)"},
    {"split.last", [](X x) { return x.split(2, -1); }, "split(2, -1)"},
    {"chunk", [](X x) { return x.chunk(2, -1); }, "chunk(2, -1)"},
    {"unbind", [](X x) { return x.unbind(0); }, "unbind(0)"},
    {"tensor_split", [](X x) { return x.tensor_split(2, 0); }, "tensor_split(2, 0)"},
    {"unsafe_split", [](X x) { return x.unsafe_split(1, 0); }, "unsafe_split(1, 0)"},
};
const bool added_parts = add_kind({"parts", 6, kSetup | kBody,
                                   [](Draw& draw, const State& state, Statement& s) {
                                     const auto slot = pick(draw, state, [](const Slot& each) {
                                       return each.is_tensor() && each.tensor.dim() > 0 &&
                                              each.tensor.size(0) > 1 && each.tensor.size(-1) > 2;
                                     });
                                     if (!slot) return false;
                                     s.name = draw.of(parts).name;
                                     s.in = {*slot};
                                     s.out = {0, 0};
                                     return true;
                                   },
                                   [](State& state, const Statement& s) {
                                     for (const Parts& each : parts)
                                       if (s.name == each.name) {
                                         const std::vector<Variable> made = each.make(state.tensor(s.in[0]));
                                         for (std::size_t i = 0; i < s.out.size(); ++i)
                                           state[s.out[i]] = Slot{.tensor = made.at(i)};
                                       }
                                   },
                                   [](const Statement& s, Language l) {
                                     std::string call;
                                     for (const Parts& each : parts)
                                       if (s.name == each.name) call = slot_text(s.in[0]) + "." + each.text;
                                     const std::string a = slot_text(s.out[0]), b = slot_text(s.out[1]);
                                     if (l == Language::python) return a + ", " + b + ", *_ = " + call;
                                     return "auto p" + a + " = " + call + "; Tensor " + a + " = p" + a +
                                            "[0], " + b + " = p" + a + "[1];";
                                   }});

}  // namespace
}  // namespace programs
