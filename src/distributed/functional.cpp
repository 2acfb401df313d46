// functional::all_reduce and others: differentiable collectives.
#include <ebb/autograd/function.h>
#include <ebb/distributed/functional.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "distributed/engine.h"

#include <numeric>

namespace ebb::distributed::functional {
namespace {

using autograd::AutogradContext;
using Counts = std::vector<std::int64_t>;
using Variables = std::vector<Variable>;

ProcessGroup group_of(AutogradContext* ctx) {
  const int id = static_cast<int>(ctx->saved_data["group"].toInt());
  return ProcessGroup(detail::Engine::get("functional").group(id));
}

// The sum or mean of all ranks' tensors. It is its own transpose.
struct AllReduce : autograd::Function<AllReduce> {
  static Variable forward(AutogradContext* ctx, const Variable& x, ReduceOp op, const ProcessGroup& group) {
    ctx->saved_data["group"] = group.id();
    ctx->saved_data["op"] = static_cast<int>(op);
    Variable result = x.clone(MemoryFormat::Contiguous);
    distributed::all_reduce(result, op, group);
    return result;
  }
  static Variables backward(AutogradContext* ctx, const Variables& grads) {
    const auto op = static_cast<ReduceOp>(ctx->saved_data["op"].toInt());
    return {apply(grads[0], op, group_of(ctx)), {}, {}};
  }
};

// Parts along dimension 0, exchanged among the ranks: in[i] rows go to rank i, and out[i] rows come from it.
// The transpose sends them back. The other functions compose it with copies and sums.
struct AllToAll : autograd::Function<AllToAll> {
  static Variable forward(AutogradContext* ctx, const Variable& x, const Counts& out, const Counts& in,
                          const ProcessGroup& group) {
    ctx->saved_data["group"] = group.id();
    ctx->saved_data["out"] = out;
    ctx->saved_data["in"] = in;
    DimVector sizes(x.sizes());
    sizes[0] = std::accumulate(out.begin(), out.end(), std::int64_t{0});
    Variable result = empty(sizes, x.options());
    distributed::all_to_all_single(result, x, out, in, group);
    return result;
  }
  static Variables backward(AutogradContext* ctx, const Variables& grads) {
    const Counts &out = ctx->saved_data["out"].toIntVector(), &in = ctx->saved_data["in"].toIntVector();
    return {apply(grads[0], in, out, group_of(ctx)), {}, {}, {}};
  }
};

// Returns the numbers of rows that arrive if parts of these sizes are sent.
Counts exchanged(const Counts& sent, const ProcessGroup& group) {
  const Variable out = empty({static_cast<std::int64_t>(sent.size())}, TensorOptions(kLong));
  distributed::all_to_all_single(out, tensor(sent, TensorOptions(kLong)), {}, {}, group);
  const std::int64_t* const first = out.data_ptr<std::int64_t>();
  return Counts(first, first + sent.size());
}

Counts same_for_all(std::int64_t rows, const ProcessGroup& group) {
  return Counts(static_cast<std::size_t>(world_size(group)), rows);
}

// Returns the rows of each of equal parts.
Counts even_rows(const char* function, const Variable& x, const ProcessGroup& group) {
  const std::int64_t ranks = world_size(group);
  EBB_CHECK(x.dim() > 0 && x.size(0) % ranks == 0, "distributed::functional::", function, ": the tensor ",
            x.sizes(), " cannot be split among ", ranks,
            " ranks along dimension 0. Its size there must be a multiple");
  return same_for_all(x.size(0) / ranks, group);
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
  const Counts in = same_for_all(x.size(0), group);
  Counts out = exchanged(in, group);
  const Variable copies = cat(Variables(in.size(), x));
  return {AllToAll::apply(copies, out, in, group), std::move(out)};
}

// Returns the sum or mean of the parts that arrive, for parts of these rows.
Variable reduced(const char* function, const Variable& x, const Counts& rows, ReduceOp op,
                 const ProcessGroup& group) {
  EBB_CHECK(op == ReduceOp::SUM || op == ReduceOp::AVG, "distributed::functional::", function,
            ": needs SUM or AVG. For another reduction use functional::all_gather and reduce its result");
  const std::int64_t own = rows[static_cast<std::size_t>(rank(group))], ranks = world_size(group);
  const Variable parts = AllToAll::apply(x, same_for_all(own, group), rows, group).unflatten(0, {ranks, own});
  return op == ReduceOp::AVG ? parts.mean(0) : parts.sum(0);
}

}  // namespace

Variable all_reduce(const Variable& x, ReduceOp op, const ProcessGroup& group) {
  if (op == ReduceOp::SUM || op == ReduceOp::AVG) return AllReduce::apply(x, op, group);
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
  return AllToAll::apply(x, exchanged(in, group), in, group);
}

Variables all_to_all(const Variables& inputs, const ProcessGroup& group) {
  check_list("all_to_all", inputs.size(), group);
  Counts in;
  for (const Variable& input : inputs) in.push_back(input.size(0));
  const Counts out = exchanged(in, group);
  return AllToAll::apply(cat(inputs), out, in, group).split_with_sizes(out, 0);
}

}  // namespace ebb::distributed::functional
