// einsum. First the dimensions of all operands are arranged in the same order. Then pairs of operands are
// contracted by batches of matrix products.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/linalg/product.h"

#include <algorithm>
#include <vector>

namespace ebb {
namespace {

constexpr int kLetters = 52;  // A to Z, then a to z
constexpr int kDots = kLetters;

using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
  bool has_output = false;
};

int letter(std::string_view equation, char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  detail::fail("einsum: \"", equation, "\" has the symbol '", c, "'; dimensions must be letters.");
}

Equation parse(std::string_view equation) {
  Equation e;
  e.inputs.emplace_back();
  bool dots_seen = false;
  for (std::size_t i = 0; i < equation.size(); ++i) {
    const char c = equation[i];
    Labels& into = e.has_output ? e.output : e.inputs.back();
    if (c == ' ') continue;
    if (c == '.') {
      EBB_CHECK(equation.substr(i, 3) == "..." && !dots_seen,
                "einsum: expected at most one \"...\" in each operand of \"", equation, "\".");
      dots_seen = true;
      i += 2;
      into.push_back(kDots);
    } else if (c == ',') {
      EBB_CHECK(!e.has_output, "einsum: \"", equation, "\" has a comma after \"->\".");
      e.inputs.emplace_back();
      dots_seen = false;
    } else if (c == '-') {
      EBB_CHECK(!e.has_output && i + 1 < equation.size() && equation[i + 1] == '>',
                "einsum: expected one \"->\" in \"", equation, "\".");
      e.has_output = true;
      dots_seen = false;
      ++i;
    } else {
      into.push_back(letter(equation, c));
    }
  }
  return e;
}

// The position of each label among the dimensions of the arranged operands.
struct LabelPositions {
  int position[kLetters + 1];
  std::int64_t outputs = 0;  // dimensions of the result; the others are summed
  std::int64_t dims = 0;
  std::int64_t dots = 0;  // the number of dimensions of "..."
};

LabelPositions label_positions(std::string_view text, Equation& e, TensorList tensors) {
  LabelPositions l;
  int count[kLetters + 1] = {};
  bool dots = false;
  for (std::size_t i = 0; i < e.inputs.size(); ++i) {
    std::int64_t named = 0;
    bool has_dots = false;
    for (const int label : e.inputs[i]) {
      ++count[label];
      has_dots = has_dots || label == kDots;
      named += label != kDots;
    }
    const std::int64_t rest = tensors[i].dim() - named;
    EBB_CHECK(has_dots ? rest >= 0 : rest == 0, "einsum: \"", text, "\" names ", named,
              " dimensions of operand ", static_cast<std::int64_t>(i), ", which has shape ",
              tensors[i].sizes(), ".");
    if (has_dots) l.dots = std::max(l.dots, rest);
    dots = dots || has_dots;
  }
  if (!e.has_output) {
    if (dots) e.output.push_back(kDots);
    for (int label = 0; label < kLetters; ++label)
      if (count[label] == 1) e.output.push_back(label);
  }
  for (int& p : l.position) p = -1;
  const auto add = [&](int label) {
    l.position[label] = static_cast<int>(l.dims);
    l.dims += label == kDots ? l.dots : 1;
  };
  for (const int label : e.output) {
    EBB_CHECK(l.position[label] < 0, "einsum: a dimension appears twice in the output of \"", text, "\".");
    EBB_CHECK(label == kDots || count[label] > 0, "einsum: an output dimension of \"", text,
              "\" appears in no operand.");
    add(label);
  }
  l.outputs = l.dims;
  for (int label = 0; label <= kLetters; ++label)
    if (count[label] > 0 && l.position[label] < 0) add(label);
  return l;
}

struct Term {
  Variable x;
  std::vector<bool> has;  // true for each dimension that the operand has
};

// Replaces dimensions with the same label by their diagonal, and arranges the dimensions in the common order.
// A dimension that the operand does not have gets size 1.
Term arrange(std::string_view text, const Labels& labels, Variable x, const LabelPositions& l) {
  Term result{Variable(), std::vector<bool>(static_cast<std::size_t>(l.dims), false)};
  std::vector<std::int64_t> from(static_cast<std::size_t>(l.dims), -1);
  const std::int64_t rest =
      x.dim() - static_cast<std::int64_t>(labels.size()) + 1;  // the number of dimensions of "..." in x
  std::int64_t d = 0;
  for (const int label : labels) {
    if (label == kDots) {
      for (std::int64_t i = 0; i < rest; ++i)
        from[static_cast<std::size_t>(l.position[kDots] + l.dots - rest + i)] = d++;
      continue;
    }
    std::int64_t& place = from[static_cast<std::size_t>(l.position[label])];
    if (place < 0) {
      place = d++;
      continue;
    }
    EBB_CHECK(x.sizes()[place] == x.sizes()[d], "einsum: \"", text,
              "\" takes the diagonal of dimensions of different sizes in shape ", x.sizes(), ".");
    x = x.diagonal(0, place, d).movedim(-1, place);
  }
  DimVector order;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] >= 0) {
      order.push_back(from[i]);
      result.has[i] = true;
    }
  x = x.permute(order);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] < 0) x = x.unsqueeze(static_cast<std::int64_t>(i));
  result.x = std::move(x);
  return result;
}

// Returns the product of two operands, summed over the dimensions d for which sum[d] is true. The sum keeps
// these dimensions with size 1.
Variable contract(std::string_view text, Variable a, Variable b, const std::vector<bool>& sum) {
  DimVector both, left, right, inner, alone_a, alone_b;
  for (std::size_t d = 0; d < sum.size(); ++d) {
    const std::int64_t i = static_cast<std::int64_t>(d), x = a.sizes()[d], y = b.sizes()[d];
    EBB_CHECK(x == y || x == 1 || y == 1, "einsum: operands of \"", text,
              "\" disagree in the size of a dimension: ", x, " and ", y, ".");
    if (sum[d] && x != y) (x == 1 ? alone_b : alone_a).push_back(i);
    if (sum[d] && x != 1 && y != 1)
      inner.push_back(i);
    else if (!sum[d] && x != 1 && y != 1)
      both.push_back(i);
    else if (!sum[d] && x != 1)
      left.push_back(i);
    else
      right.push_back(i);
  }
  if (!alone_a.empty()) a = a.sum(IntArrayRef(alone_a), true);
  if (!alone_b.empty()) b = b.sum(IntArrayRef(alone_b), true);
  if (inner.empty()) return mul(a, b);
  std::int64_t batch = 1, rows = 1, depth = 1, cols = 1;
  DimVector order_a, order_b, result, place(sum.size());
  const auto take = [&](const DimVector& dims, std::int64_t& size, const Variable& x) {
    for (const std::int64_t d : dims) {
      size *= x.sizes()[d];
      place[d] = static_cast<std::int64_t>(result.size());
      result.push_back(x.sizes()[d]);
    }
  };
  take(both, batch, a);
  take(left, rows, a);
  for (const std::int64_t d : inner) {
    depth *= a.sizes()[d];
    place[d] = static_cast<std::int64_t>(result.size());
    result.push_back(1);
  }
  take(right, cols, b);
  for (const DimVector* dims : {&both, &left, &inner, &right}) order_a.append(dims->begin(), dims->end());
  for (const DimVector* dims : {&both, &inner, &right, &left}) order_b.append(dims->begin(), dims->end());
  const Variable x = a.permute(order_a).reshape({batch, rows, depth}),
                 y = b.permute(order_b).reshape({batch, depth, cols});
  const auto product = [&](const Variable& m, const Variable& n) {
    return ops::product("einsum", m, false, n, false).view(result).permute(place);
  };
  EBB_AUTOCAST_AS("bmm", product, x, y);
  return product(x, y);
}

}  // namespace

Variable einsum(std::string_view text, TensorList tensors, OptionalIntArrayRef path) {
  EBB_AUTOCAST(einsum, text, tensors, path);
  EBB_CHECK(!tensors.empty(), "einsum: expected at least one tensor.");
  Equation equation = parse(text);
  EBB_CHECK(equation.inputs.size() == tensors.size(), "einsum: \"", text, "\" has ",
            static_cast<std::int64_t>(equation.inputs.size()), " operands, but ",
            static_cast<std::int64_t>(tensors.size()), " tensors were given.");
  for (const Variable& x : tensors) ops::operand_device("einsum", tensors[0], x);
  const LabelPositions positions = label_positions(text, equation, tensors);
  std::vector<Term> operands;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    operands.push_back(arrange(text, equation.inputs[i], tensors[i], positions));
  const std::size_t dims = static_cast<std::size_t>(positions.dims);
  // In each dimension, a size of 1 broadcasts, and all other sizes must be equal. This is checked here for
  // all operands, because some of them are never contracted with each other.
  for (std::size_t d = 0; d < dims; ++d) {
    std::int64_t size = 1;
    for (const Term& o : operands) {
      const std::int64_t s = o.x.sizes()[d];
      EBB_CHECK(s == 1 || size == 1 || s == size, "einsum: operands of \"", text,
                "\" disagree in the size of a dimension: ", size, " and ", s, ".");
      if (s != 1) size = s;
    }
  }
  EBB_CHECK(!path || path->size() == (operands.size() == 1 ? 1 : 2 * (operands.size() - 1)),
            "einsum: the path for ", static_cast<std::int64_t>(operands.size()),
            " operands must have a pair of positions for each contraction, got ",
            path ? *path : IntArrayRef(), ".");
  for (std::size_t step = 0; operands.size() > 1; ++step) {
    std::size_t i = 0, j = 1;
    if (path) {
      const std::int64_t p = (*path)[2 * step], q = (*path)[2 * step + 1],
                         n = static_cast<std::int64_t>(operands.size());
      EBB_CHECK(p >= 0 && q >= 0 && p < n && q < n && p != q, "einsum: the path ", *path,
                " names a pair of operands that does not exist.");
      i = static_cast<std::size_t>(std::min(p, q));
      j = static_cast<std::size_t>(std::max(p, q));
    }
    const Term b = std::move(operands[j]), a = std::move(operands[i]);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    Term result{Variable(), std::vector<bool>(dims, false)};
    std::vector<bool> sum(dims, false);
    for (std::size_t d = 0; d < dims; ++d) {
      bool later = d < static_cast<std::size_t>(positions.outputs);
      for (const Term& o : operands) later = later || o.has[d];
      sum[d] = !later;
      result.has[d] = later && (a.has[d] || b.has[d]);
    }
    result.x = contract(text, a.x, b.x, sum);
    operands.insert(path ? operands.end() : operands.begin(), std::move(result));
  }
  Variable out = operands[0].x;
  DimVector summed;
  for (std::int64_t d = positions.outputs; d < positions.dims; ++d) summed.push_back(d);
  if (summed.empty()) return out;
  if (tensors.size() > 1) {  // contract() has summed these dimensions; they have size 1
    for (std::int64_t d = positions.dims - 1; d >= positions.outputs; --d) out = out.squeeze(d);
    return out;
  }
  return out.sum(IntArrayRef(summed));
}

}  // namespace ebb
