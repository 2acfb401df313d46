// functional::all_reduce and others: differentiable collectives.
#include <ebb/autograd/record.h>
#include <ebb/distributed/functional.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include <numeric>

namespace ebb::distributed::functional {
namespace {

using Counts = std::vector<std::int64_t>;
using Variables = std::vector<Variable>;
using Map = std::function<Variable(const Variable&)>;

// Applies a linear map of all ranks' tensors. Its derivative is the transpose of the map.
Variable linear(const Variable& x, const Map& map, const Map& transpose) {
  struct CollectiveBackward : autograd::Node {
    std::string name() const override { return "CollectiveBackward"; }
    // All ranks take part, also one whose gradient is undefined.
    bool runs_on_undefined() const override { return true; }
    autograd::GradList apply(autograd::GradList&& grads) override {
      autograd::GradList results(1);
      results[0] = linear(grad_or_zeros(grads, 0), transpose, map);
      return results;
    }
    Map map, transpose;
  };
  const Variable y = map(x.detach());
  if (autograd::records(x)) {
    const auto node = autograd::make_node<CollectiveBackward>(x);
    node->map = map;
    node->transpose = transpose;
    autograd::set_history(y, node);
  }
  return y;
}

// Returns a new tensor like x, with the rows of all parts.
Variable with_rows(const Variable& x, const Counts& parts) {
  DimVector sizes(x.sizes());
  sizes[0] = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  return empty(sizes, x.options());
}

// These return a collective for parts with these rows along dimension 0. The first two are transposes of each
// other.
Map gather_map(const Counts& rows, const ProcessGroup& group) {
  return [=](const Variable& x) {
    const Variable y = with_rows(x, rows);
    distributed::all_gather(y.split_with_sizes(rows, 0), x, group);
    return y;
  };
}
Map scatter_map(const Counts& rows, const ProcessGroup& group) {
  return [=](const Variable& x) {
    const Variable y = with_rows(x, {rows[static_cast<std::size_t>(rank(group))]});
    distributed::reduce_scatter(y, x.split_with_sizes(rows, 0), ReduceOp::SUM, group);
    return y;
  };
}
Map exchange_map(const Counts& out, const Counts& in, const ProcessGroup& group) {
  return [=](const Variable& x) {
    const Variable y = with_rows(x, out);
    distributed::all_to_all_single(y, x, out, in, group);
    return y;
  };
}

// Returns the numbers of rows that arrive if parts of these sizes are sent.
Counts exchanged(const Counts& sent, const ProcessGroup& group) {
  const Variable out = empty({static_cast<std::int64_t>(sent.size())}, TensorOptions(kLong));
  distributed::all_to_all_single(out, tensor(sent, TensorOptions(kLong)), {}, {}, group);
  const std::int64_t* const first = out.data_ptr<std::int64_t>();
  return Counts(first, first + sent.size());
}

// Returns the rows of each of equal parts.
Counts even_rows(const char* function, const Variable& x, const ProcessGroup& group) {
  const int ranks = world_size(group);
  EBB_CHECK(x.dim() > 0 && x.size(0) % ranks == 0, "distributed::functional::", function, ": the tensor ",
            x.sizes(), " cannot be split among ", ranks,
            " ranks along dimension 0. Its size there must be a multiple");
  return Counts(static_cast<std::size_t>(ranks), x.size(0) / ranks);
}

void check_list(const char* function, std::size_t length, const ProcessGroup& group) {
  EBB_CHECK(length == static_cast<std::size_t>(world_size(group)), "distributed::functional::", function,
            ": the list has ", static_cast<int>(length), " entries, but the group has ", world_size(group),
            " ranks. Pass one for each");
}

// Returns the tensors of all ranks, joined, and the rows of each.
std::pair<Variable, Counts> gathered(const char* function, const Variable& x, const ProcessGroup& group) {
  EBB_CHECK(x.dim() > 0, "distributed::functional::", function,
            ": a tensor without dimensions cannot be joined along dimension 0. Pass x.unsqueeze(0)");
  const Counts rows = exchanged(Counts(static_cast<std::size_t>(world_size(group)), x.size(0)), group);
  return {linear(x, gather_map(rows, group), scatter_map(rows, group)), rows};
}

// Returns the parts that arrive, joined, and the rows of each.
std::pair<Variable, Counts> exchange(const Variable& x, const Counts& in, const ProcessGroup& group) {
  const Counts out = exchanged(in, group);
  return {linear(x, exchange_map(out, in, group), exchange_map(in, out, group)), out};
}

// Returns this rank's part of the sum or mean, for parts of these rows.
Variable reduced(const char* function, const Variable& x, const Counts& rows, ReduceOp op,
                 const ProcessGroup& group) {
  EBB_CHECK(op == ReduceOp::SUM || op == ReduceOp::AVG, "distributed::functional::", function,
            ": needs SUM or AVG. For another reduction use functional::all_gather and reduce its result");
  const Variable total = linear(x, scatter_map(rows, group), gather_map(rows, group));
  return op == ReduceOp::AVG ? total / world_size(group) : total;
}

}  // namespace

Variable all_reduce(const Variable& x, ReduceOp op, const ProcessGroup& group) {
  if (op == ReduceOp::SUM || op == ReduceOp::AVG) {
    const Map map = [=](const Variable& own) {
      const Variable y = own.clone(MemoryFormat::Contiguous);
      distributed::all_reduce(y, op, group);
      return y;
    };
    return linear(x, map, map);
  }
  const Variable all = all_gather_into_tensor(x.unsqueeze(0), group);
  if (op == ReduceOp::PRODUCT) return all.prod(0);
  return op == ReduceOp::MIN ? all.amin(0) : all.amax(0);
}

Variable all_gather_into_tensor(const Variable& x, const ProcessGroup& group) {
  return gathered("all_gather_into_tensor", x, group).first;
}

Variables all_gather(const Variable& x, const ProcessGroup& group) {
  const auto [all, rows] = gathered("all_gather", x, group);
  return all.split_with_sizes(rows, 0);
}

Variable reduce_scatter(const Variables& inputs, ReduceOp op, const ProcessGroup& group) {
  check_list("reduce_scatter", inputs.size(), group);
  Variables flat;
  Counts rows;
  for (const Variable& input : inputs) {
    flat.push_back(input.reshape({-1}));
    rows.push_back(input.numel());
  }
  const IntArrayRef sizes = inputs[static_cast<std::size_t>(rank(group))].sizes();
  return reduced("reduce_scatter", cat(flat), rows, op, group).view(sizes);
}

Variable reduce_scatter_tensor(const Variable& x, ReduceOp op, const ProcessGroup& group) {
  return reduced("reduce_scatter_tensor", x, even_rows("reduce_scatter_tensor", x, group), op, group);
}

Variable all_to_all_single(const Variable& x, const Counts& splits, const ProcessGroup& group) {
  const Counts in = splits.empty() ? even_rows("all_to_all_single", x, group) : splits;
  check_list("all_to_all_single", in.size(), group);
  return exchange(x, in, group).first;
}

Variables all_to_all(const Variables& inputs, const ProcessGroup& group) {
  check_list("all_to_all", inputs.size(), group);
  Counts in;
  for (const Variable& input : inputs) in.push_back(input.size(0));
  const auto [all, rows] = exchange(cat(inputs), in, group);
  return all.split_with_sizes(rows, 0);
}

}  // namespace ebb::distributed::functional
