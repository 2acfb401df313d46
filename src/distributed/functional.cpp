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

ProcessGroup saved_group(AutogradContext* ctx) {
  return ProcessGroup(
      detail::Engine::get("functional").group(static_cast<int>(ctx->saved_data["group"].toInt())));
}

void require_sum(const char* function, ReduceOp op) {
  EBB_CHECK(op == ReduceOp::SUM || op == ReduceOp::AVG, "distributed::functional::", function,
            ": needs SUM or AVG. For another reduction use functional::all_gather and reduce its result");
}

DimVector with_rows(const Variable& x, std::int64_t rows) {
  DimVector sizes(x.sizes());
  sizes[0] = rows;
  return sizes;
}

std::int64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
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
    return {apply(grads[0], op, saved_group(ctx)), {}, {}};
  }
};

// Parts along dimension 0 of all ranks' tensors, exchanged. Its transpose exchanges them back.
struct AllToAll : autograd::Function<AllToAll> {
  static Variable forward(AutogradContext* ctx, const Variable& x, const Counts& out, const Counts& in,
                          const ProcessGroup& group) {
    ctx->saved_data["group"] = group.id();
    ctx->saved_data["out"] = out;
    ctx->saved_data["in"] = in;
    Variable result = empty(with_rows(x, sum(out)), x.options());
    all_to_all_single(result, x, out, in, group);
    return result;
  }
  static Variables backward(AutogradContext* ctx, const Variables& grads) {
    return {apply(grads[0], ctx->saved_data["in"].toIntVector(), ctx->saved_data["out"].toIntVector(),
                  saved_group(ctx)),
            {},
            {},
            {}};
  }
};

// The tensors of all ranks, joined, and its transpose: the sum of all ranks' parts with the number of this
// rank.
struct ReduceScatter;
struct AllGather : autograd::Function<AllGather> {
  static Variable forward(AutogradContext* ctx, const Variable& x, const Counts& rows,
                          const ProcessGroup& group);
  static Variables backward(AutogradContext* ctx, const Variables& grads);
};
struct ReduceScatter : autograd::Function<ReduceScatter> {
  static Variable forward(AutogradContext* ctx, const Variable& x, const Counts& rows,
                          const ProcessGroup& group);
  static Variables backward(AutogradContext* ctx, const Variables& grads);
};

Variable AllGather::forward(AutogradContext* ctx, const Variable& x, const Counts& rows,
                            const ProcessGroup& group) {
  ctx->saved_data["group"] = group.id();
  ctx->saved_data["rows"] = rows;
  Variable result = empty(with_rows(x, sum(rows)), x.options());
  distributed::all_gather(result.split_with_sizes(rows, 0), x, group);
  return result;
}
Variables AllGather::backward(AutogradContext* ctx, const Variables& grads) {
  return {ReduceScatter::apply(grads[0], ctx->saved_data["rows"].toIntVector(), saved_group(ctx)), {}, {}};
}
Variable ReduceScatter::forward(AutogradContext* ctx, const Variable& x, const Counts& rows,
                                const ProcessGroup& group) {
  ctx->saved_data["group"] = group.id();
  ctx->saved_data["rows"] = rows;
  Variable result = empty(with_rows(x, rows[static_cast<std::size_t>(rank(group))]), x.options());
  distributed::reduce_scatter(result, x.split_with_sizes(rows, 0), ReduceOp::SUM, group);
  return result;
}
Variables ReduceScatter::backward(AutogradContext* ctx, const Variables& grads) {
  return {AllGather::apply(grads[0], ctx->saved_data["rows"].toIntVector(), saved_group(ctx)), {}, {}};
}

Counts list(const Variable& x) {
  const std::int64_t* const first = x.data_ptr<std::int64_t>();
  return Counts(first, first + x.numel());
}

// Returns the sizes along dimension 0 of all ranks' tensors.
Counts rows_of_all(const char* function, const Variable& x, const ProcessGroup& group) {
  EBB_CHECK(x.dim() > 0, "distributed::functional::", function,
            ": a tensor without dimensions cannot be joined along dimension 0. Pass x.unsqueeze(0)");
  const Variable rows = empty({world_size(group)}, TensorOptions(kLong));
  distributed::all_gather_into_tensor(rows, full({1}, x.size(0), TensorOptions(kLong)), group);
  return list(rows);
}

// Returns the sizes of the parts that arrive, if parts of these sizes are sent.
Counts exchanged(const Counts& sent, const ProcessGroup& group) {
  const Variable out = empty({static_cast<std::int64_t>(sent.size())}, TensorOptions(kLong));
  distributed::all_to_all_single(out, tensor(sent, TensorOptions(kLong)), {}, {}, group);
  return list(out);
}

Counts even_rows(const char* function, const Variable& x, const ProcessGroup& group) {
  const std::int64_t ranks = world_size(group);
  EBB_CHECK(x.dim() > 0 && x.size(0) % ranks == 0, "distributed::functional::", function, ": the tensor ",
            x.sizes(), " cannot be split among ", ranks,
            " ranks along dimension 0. Its size there must be a multiple");
  return Counts(static_cast<std::size_t>(ranks), x.size(0) / ranks);
}

Variable averaged(const Variable& total, ReduceOp op, const ProcessGroup& group) {
  return op == ReduceOp::AVG ? total / world_size(group) : total;
}

}  // namespace

Variable all_reduce(const Variable& x, ReduceOp op, const ProcessGroup& group) {
  if (op == ReduceOp::SUM || op == ReduceOp::AVG) return AllReduce::apply(x, op, group);
  const Variable all = all_gather_into_tensor(x.unsqueeze(0), group);
  if (op == ReduceOp::PRODUCT) return all.prod(0);
  return op == ReduceOp::MIN ? all.amin(0) : all.amax(0);
}

Variable all_gather_into_tensor(const Variable& x, const ProcessGroup& group) {
  return AllGather::apply(x, rows_of_all("all_gather_into_tensor", x, group), group);
}

std::vector<Variable> all_gather(const Variable& x, const ProcessGroup& group) {
  const Counts rows = rows_of_all("all_gather", x, group);
  return AllGather::apply(x, rows, group).split_with_sizes(rows, 0);
}

Variable reduce_scatter(const Variables& inputs, ReduceOp op, const ProcessGroup& group) {
  require_sum("reduce_scatter", op);
  EBB_CHECK(static_cast<int>(inputs.size()) == world_size(group),
            "distributed::functional::reduce_scatter: the list has ", static_cast<int>(inputs.size()),
            " tensors, but the group has ", world_size(group), " ranks. Pass one for each");
  Variables flat;
  Counts rows;
  for (const Variable& input : inputs) {
    flat.push_back(input.reshape({-1}));
    rows.push_back(input.numel());
  }
  const Variable own = ReduceScatter::apply(cat(flat), rows, group);
  return averaged(own.view(inputs[static_cast<std::size_t>(rank(group))].sizes()), op, group);
}

Variable reduce_scatter_tensor(const Variable& x, ReduceOp op, const ProcessGroup& group) {
  require_sum("reduce_scatter_tensor", op);
  return averaged(ReduceScatter::apply(x, even_rows("reduce_scatter_tensor", x, group), group), op, group);
}

Variable all_to_all_single(const Variable& x, const Counts& splits, const ProcessGroup& group) {
  const Counts in = splits.empty() ? even_rows("all_to_all_single", x, group) : splits;
  EBB_CHECK(static_cast<int>(in.size()) == world_size(group),
            "distributed::functional::all_to_all_single: there are ", static_cast<int>(in.size()),
            " splits, but the group has ", world_size(group), " ranks. Pass one for each");
  return AllToAll::apply(x, exchanged(in, group), in, group);
}

Variables all_to_all(const Variables& inputs, const ProcessGroup& group) {
  EBB_CHECK(static_cast<int>(inputs.size()) == world_size(group),
            "distributed::functional::all_to_all: the list has ", static_cast<int>(inputs.size()),
            " tensors, but the group has ", world_size(group), " ranks. Pass one for each");
  Counts in;
  for (const Variable& input : inputs) in.push_back(input.size(0));
  const Counts out = exchanged(in, group);
  return AllToAll::apply(cat(inputs), out, in, group).split_with_sizes(out, 0);
}

}  // namespace ebb::distributed::functional
