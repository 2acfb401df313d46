// all_reduce, broadcast, all_gather and others: collectives.
#include <ebb/autograd/grad_mode.h>
#include <ebb/distributed/collectives.h>
#include <ebb/ops/creation.h>

#include "distributed/engine.h"

#include <numeric>

namespace ebb::distributed {
namespace {

using detail::Engine;
using detail::Task;
using Counts = std::vector<std::int64_t>;
using Variables = std::vector<Variable>;

const char* to_string(ReduceOp op) {
  constexpr const char* kNames[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX"};
  return kNames[static_cast<int>(op)];
}

Counts counts_of(const Variables& tensors) {
  Counts counts;
  for (const Variable& tensor : tensors) counts.push_back(tensor.numel());
  return counts;
}

std::int64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// Builds the task of one collective: checks its tensors, and gives their memory to the request. Tensors that
// are not contiguous, lists of tensors, and devices that the transport does not handle get a buffer.
class Call {
 public:
  Call(Collective kind, const Variable& tensor, const ProcessGroup& group, int root = 0)
      : task_(std::make_shared<Task>()) {
    task_->group = group.checked();
    task_->request.kind = kind;
    task_->request.root = root;
    EBB_CHECK(task_->group->rank >= 0, name(), "rank ", rank(), " of the world is not in group ",
              task_->group->id, ". Only its members may call it");
    EBB_CHECK((root >= 0 && root < size()) || (kind == Collective::receive && root == kAnySource), name(),
              "rank ", root, " is not in the group of ", size(), " ranks. Ranks count from 0 in the group");
    EBB_CHECK(tensor.defined(), name(),
              "the tensor is undefined. Pass a tensor with the shape of the result");
    task_->request.dtype = tensor.scalar_type();
    device_ = tensor.device();
    staged_ = !task_->group->transport->handles(device_);
    if (!staged_) task_->request.device = device_;
    terms_ = ebb::detail::text(" of ", tensor.scalar_type());
  }

  std::string name() const {
    return ebb::detail::text("distributed::", distributed::to_string(task_->request.kind), ": ");
  }
  int size() const { return static_cast<int>(task_->group->ranks.size()); }
  int own_rank() const { return task_->group->rank; }
  bool is_root() const { return own_rank() == task_->request.root; }
  Request& request() { return task_->request; }

  Call& reduces(ReduceOp op) {
    EBB_CHECK(op != ReduceOp::AVG || is_floating(request().dtype), name(),
              "AVG needs a floating dtype, but the tensor is ", request().dtype,
              ". Use SUM and divide, or convert the tensor");
    request().op = op;
    terms_ += ebb::detail::text(" by ", to_string(op));
    return *this;
  }
  // States what all ranks must agree on besides kind, dtype, reduction and root.
  Call& agrees(const Counts& counts) {
    for (const std::int64_t count : counts) terms_ += ebb::detail::text(" ", count);
    return *this;
  }
  Call& agrees(const Variable& tensor) {
    terms_ += " [";
    for (const std::int64_t size : tensor.sizes()) terms_ += ebb::detail::text(" ", size);
    terms_ += " ]";
    return *this;
  }

  Call& sends(const Variable& tensor) {
    check(tensor);
    request().send_count = tensor.numel();
    request().send = memory(is_direct(tensor) ? tensor : filled_buffer({tensor}));
    return *this;
  }
  Call& sends_parts(const Variables& tensors) {
    check_list(tensors);
    request().send_counts = counts_of(tensors);
    request().send_count = sum(request().send_counts);
    request().send = memory(filled_buffer(tensors));
    return *this;
  }
  Call& receives(const Variable& tensor) {
    check_output(tensor);
    request().receive_count = tensor.numel();
    request().receive = memory(is_direct(tensor) ? written(tensor) : emptied_buffer({tensor}));
    return *this;
  }
  Call& receives_parts(const Variables& tensors) {
    check_list(tensors);
    for (const Variable& tensor : tensors) check_output(tensor);
    request().receive_counts = counts_of(tensors);
    request().receive_count = sum(request().receive_counts);
    request().receive = memory(emptied_buffer(tensors));
    return *this;
  }
  // The tensor is input and output. Its values are needed only if `reads`, and change only if `writes`.
  Call& updates(const Variable& tensor, bool reads, bool writes) {
    check_output(tensor);
    Variable values = tensor;
    if (is_direct(tensor)) {
      if (writes) written(tensor);
    } else {
      values = reads ? filled_buffer({tensor}) : new_buffer(tensor.numel());
      if (writes) copies_back(values, {tensor});
    }
    request().send_count = request().receive_count = tensor.numel();
    request().receive = memory(values);
    return *this;
  }

  Call& tagged(int tag) {
    EBB_CHECK(tag >= 0 && tag < 32768, name(), "the tag is ", tag, ", but must be from 0 to 32767");
    EBB_CHECK(size() > 1 && !is_root(), name(), "rank ", own_rank(),
              " cannot send to itself. Name another rank");
    request().tag = tag;
    return *this;
  }

  Work submit(bool async_op) {
    Engine& engine = Engine::get(distributed::to_string(request().kind));
    if (engine.debug() && !task_->is_message())
      task_->terms =
          ebb::detail::text(distributed::to_string(request().kind), terms_, " root ", request().root);
    engine.submit(task_, async_op);
    Work work(task_);
    if (!async_op) work.wait();
    return work;
  }

 private:
  void check(const Variable& tensor) const {
    EBB_CHECK(tensor.defined(), name(), "a tensor is undefined. Pass a tensor with the shape of the result");
    EBB_CHECK(tensor.scalar_type() == task_->request.dtype && tensor.device() == device_, name(),
              "the tensors have different dtypes or devices: ", task_->request.dtype, " on ", device_,
              " and ", tensor.dtype(), " on ", tensor.device(), ". Convert them with to()");
  }
  void check_output(const Variable& tensor) const {
    check(tensor);
    EBB_CHECK(
        !(GradMode::is_enabled() && tensor.requires_grad()), name(),
        "the result is written into a tensor that requires a gradient, and its graph would be wrong. Use "
        "the function of distributed::functional, or pass x.detach()");
    EBB_CHECK(tensor.is_contiguous() || !tensor.array().is_expanded(), name(),
              "the result is written into an expanded tensor, whose elements "
              "share memory. Pass x.contiguous()");
  }
  void check_list(const Variables& tensors) const {
    EBB_CHECK(static_cast<int>(tensors.size()) == size(), name(), "the list has ",
              static_cast<int>(tensors.size()), " tensors, but the group has ", size(),
              " ranks. Pass one for each");
    for (const Variable& tensor : tensors) check(tensor);
  }

  bool is_direct(const Variable& tensor) const { return !staged_ && tensor.is_contiguous(); }
  const Variable& written(const Variable& tensor) {
    tensor.array().storage()->bump_version();
    return tensor;
  }
  Variable new_buffer(std::int64_t elements) const {
    const TensorOptions options = TensorOptions(task_->request.dtype);
    return staged_ ? empty({elements}, options.pinned_memory(true))
                   : empty({elements}, options.device(device_));
  }
  Variable filled_buffer(const Variables& tensors) {
    const NoGradGuard no_grad;
    Variable buffer = new_buffer(sum(counts_of(tensors)));
    std::int64_t at = 0;
    for (const Variable& tensor : tensors) {
      buffer.narrow(0, at, tensor.numel()).view(tensor.sizes()).copy_(tensor, /*non_blocking=*/true);
      at += tensor.numel();
    }
    return buffer;
  }
  Variable emptied_buffer(const Variables& tensors) {
    Variable buffer = new_buffer(sum(counts_of(tensors)));
    copies_back(buffer, tensors);
    return buffer;
  }
  void copies_back(const Variable& buffer, const Variables& tensors) {
    task_->finish = [buffer, tensors] {
      const NoGradGuard no_grad;
      std::int64_t at = 0;
      for (const Variable& tensor : tensors) {
        tensor.copy_(buffer.narrow(0, at, tensor.numel()).view(tensor.sizes()));
        at += tensor.numel();
      }
    };
  }
  void* memory(const Variable& tensor) {
    task_->tensors.push_back(tensor);
    if (device_.is_cuda()) {
      request().ready = std::make_shared<cuda::Event>();
      request().ready->record(cuda::Stream::current(device_));
    }
    return tensor.data_ptr();
  }

  std::shared_ptr<Task> task_;
  Device device_;
  bool staged_ = false;
  std::string terms_;
};

}  // namespace

Work all_reduce(const Variable& tensor, ReduceOp op, const ProcessGroup& group, bool async_op) {
  return Call(Collective::all_reduce, tensor, group)
      .reduces(op)
      .agrees(tensor)
      .updates(tensor, true, true)
      .submit(async_op);
}

Work reduce(const Variable& tensor, int dst, ReduceOp op, const ProcessGroup& group, bool async_op) {
  Call call(Collective::reduce, tensor, group, dst);
  return call.reduces(op).agrees(tensor).updates(tensor, true, call.is_root()).submit(async_op);
}

Work broadcast(const Variable& tensor, int src, const ProcessGroup& group, bool async_op) {
  Call call(Collective::broadcast, tensor, group, src);
  return call.agrees(tensor).updates(tensor, call.is_root(), !call.is_root()).submit(async_op);
}

Work all_gather(const Variables& outputs, const Variable& tensor, const ProcessGroup& group, bool async_op) {
  Call call(Collective::all_gather, tensor, group);
  call.sends(tensor).receives_parts(outputs).agrees(call.request().receive_counts);
  const Variable& own = outputs[static_cast<std::size_t>(call.own_rank())];
  EBB_CHECK(own.sizes() == tensor.sizes(), call.name(), "outputs[", call.own_rank(), "] has the shape ",
            own.sizes(), ", but the tensor of this rank has ", tensor.sizes());
  return call.submit(async_op);
}

Work all_gather_into_tensor(const Variable& output, const Variable& input, const ProcessGroup& group,
                            bool async_op) {
  Call call(Collective::all_gather, input, group);
  call.sends(input).receives(output).agrees(input);
  EBB_CHECK(output.numel() == input.numel() * call.size(), call.name(), "the output ", output.sizes(),
            " must have ", call.size(), " times the elements of the input ", input.sizes());
  call.request().receive_counts.assign(static_cast<std::size_t>(call.size()), input.numel());
  return call.submit(async_op);
}

Work reduce_scatter(const Variable& output, const Variables& inputs, ReduceOp op, const ProcessGroup& group,
                    bool async_op) {
  Call call(Collective::reduce_scatter, output, group);
  call.reduces(op).sends_parts(inputs).receives(output).agrees(call.request().send_counts);
  const Variable& own = inputs[static_cast<std::size_t>(call.own_rank())];
  EBB_CHECK(own.sizes() == output.sizes(), call.name(), "inputs[", call.own_rank(), "] has the shape ",
            own.sizes(), ", but the output of this rank has ", output.sizes());
  call.request().receive_counts = std::exchange(call.request().send_counts, {});
  return call.submit(async_op);
}

Work reduce_scatter_tensor(const Variable& output, const Variable& input, ReduceOp op,
                           const ProcessGroup& group, bool async_op) {
  Call call(Collective::reduce_scatter, input, group);
  call.reduces(op).sends(input).receives(output).agrees(input);
  EBB_CHECK(input.numel() == output.numel() * call.size(), call.name(), "the input ", input.sizes(),
            " must have ", call.size(), " times the elements of the output ", output.sizes());
  call.request().receive_counts.assign(static_cast<std::size_t>(call.size()), output.numel());
  return call.submit(async_op);
}

Work all_to_all(const Variables& outputs, const Variables& inputs, const ProcessGroup& group, bool async_op) {
  const Variable& first = inputs.empty() ? Variable() : inputs[0];
  return Call(Collective::all_to_all, first, group)
      .sends_parts(inputs)
      .receives_parts(outputs)
      .submit(async_op);
}

Work all_to_all_single(const Variable& output, const Variable& input, const Counts& output_splits,
                       const Counts& input_splits, const ProcessGroup& group, bool async_op) {
  Call call(Collective::all_to_all, input, group);
  call.sends(input).receives(output);
  const auto counts = [&](const Variable& tensor, const Counts& splits, const char* which) {
    EBB_CHECK(tensor.dim() > 0, call.name(), "the ", which,
              " has no dimension to split. Pass a tensor of at least one dimension");
    const std::int64_t rows = tensor.size(0), ranks = call.size();
    EBB_CHECK(splits.empty() ? rows % ranks == 0
                             : sum(splits) == rows && static_cast<std::int64_t>(splits.size()) == ranks &&
                                   *std::min_element(splits.begin(), splits.end()) >= 0,
              call.name(), "the ", which, " ", tensor.sizes(), " cannot be split among ", ranks,
              " ranks along dimension 0. Pass ", ranks, " splits that add up to ", rows);
    Counts result = splits.empty() ? Counts(static_cast<std::size_t>(ranks), rows / ranks) : splits;
    for (std::int64_t& count : result) count *= rows == 0 ? 0 : tensor.numel() / rows;
    return result;
  };
  call.request().send_counts = counts(input, input_splits, "input");
  call.request().receive_counts = counts(output, output_splits, "output");
  return call.submit(async_op);
}

Work gather(const Variable& tensor, const Variables& outputs, int dst, const ProcessGroup& group,
            bool async_op) {
  Call call(Collective::gather, tensor, group, dst);
  call.sends(tensor);
  if (call.is_root()) call.receives_parts(outputs);
  EBB_CHECK(call.is_root() || outputs.empty(), call.name(), "rank ", call.own_rank(),
            " passes outputs, but only rank ", dst, " receives. Pass {}");
  return call.submit(async_op);
}

Work scatter(const Variable& tensor, const Variables& inputs, int src, const ProcessGroup& group,
             bool async_op) {
  Call call(Collective::scatter, tensor, group, src);
  call.receives(tensor);
  if (call.is_root()) call.sends_parts(inputs);
  EBB_CHECK(call.is_root() || inputs.empty(), call.name(), "rank ", call.own_rank(),
            " passes inputs, but only rank ", src, " sends. Pass {}");
  return call.submit(async_op);
}

Work barrier(const ProcessGroup& group, bool async_op) {
  return Call(Collective::barrier, empty({0}, TensorOptions(kByte)), group).submit(async_op);
}

Work isend(const Variable& tensor, int dst, const ProcessGroup& group, int tag) {
  return Call(Collective::send, tensor, group, dst).tagged(tag).sends(tensor).submit(true);
}

Work irecv(const Variable& tensor, int src, const ProcessGroup& group, int tag) {
  return Call(Collective::receive, tensor, group, src).tagged(tag).receives(tensor).submit(true);
}

void send(const Variable& tensor, int dst, const ProcessGroup& group, int tag) {
  isend(tensor, dst, group, tag).wait();
}

int recv(const Variable& tensor, int src, const ProcessGroup& group, int tag) {
  Work work = irecv(tensor, src, group, tag);
  work.wait();
  return work.source_rank();
}

}  // namespace ebb::distributed
