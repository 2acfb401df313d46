// all_reduce, broadcast, all_gather and others: collectives.
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/record.h>
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

std::int64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// Builds the task of one collective: checks its tensors, and gives their memory to the request. Tensors that
// are not contiguous, lists of tensors, and devices that the transport does not handle get a buffer.
class Call {
 public:
  // All tensors have the dtype and the device of `tensor`.
  Call(Collective kind, const Variable& tensor, const ProcessGroup& group, int root = 0)
      : engine_(Engine::get(to_string(kind))), task_(std::make_shared<Task>()), request_(task_->request) {
    task_->group = group.checked();
    request_.kind = kind;
    request_.root = root;
    EBB_CHECK(rank() >= 0, name(), "rank ", engine_.world()->rank, " of the world is not in group ",
              task_->group->id, ". Only its members may call it");
    EBB_CHECK((root >= 0 && root < size()) || (kind == Collective::receive && root == kAnySource), name(),
              "rank ", root, " is not in the group of ", size(), " ranks. Ranks count from 0 in the group");
    EBB_CHECK(tensor.defined(), name(),
              "the tensor is undefined. Pass a tensor with the shape of the result");
    request_.dtype = tensor.scalar_type();
    device_ = tensor.device();
    staged_ = !task_->group->transport->handles(device_);
    if (!staged_) request_.device = device_;
    agrees(to_string(kind), " of ", request_.dtype);
  }

  std::string name() const { return ebb::detail::text("distributed::", to_string(request_.kind), ": "); }
  int size() const { return task_->group->size(); }
  int rank() const { return task_->group->rank; }
  bool is_root() const { return rank() == request_.root; }

  // Adds a part of the text on which all ranks must agree in debug mode.
  template <class... Parts>
  Call& agrees(const Parts&... parts) {
    if (engine_.debug() && !task_->is_message()) task_->terms += ebb::detail::text(parts...);
    return *this;
  }
  Call& reduces(ReduceOp op) {
    EBB_CHECK(op != ReduceOp::AVG || is_floating(request_.dtype), name(),
              "AVG needs a floating dtype, but the tensor is ", request_.dtype,
              ". Use SUM and divide, or convert the tensor");
    request_.op = op;
    static constexpr const char* kNames[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX"};
    return agrees(" by ", kNames[static_cast<int>(op)]);
  }
  Call& tagged(int tag) {
    EBB_CHECK(tag >= 0 && tag < 32768, name(), "the tag is ", tag, ", but must be from 0 to 32767");
    EBB_CHECK(size() > 1 && !is_root(), name(), "rank ", rank(), " cannot send to itself. Name another rank");
    request_.tag = tag;
    return *this;
  }

  // The tensors follow each other in the memory of the request.
  Call& sends(const Variables& tensors) {
    for (const Variable& tensor : tensors) check(tensor);
    request_.send_count = sum(counts_of(tensors));
    request_.send = memory(filled(tensors));
    return *this;
  }
  Call& receives(const Variables& tensors) {
    for (const Variable& tensor : tensors) check_output(tensor);
    request_.receive_count = sum(counts_of(tensors));
    const Variable buffer = is_direct(tensors) ? tensors[0] : new_buffer(request_.receive_count);
    delivers(buffer, tensors);
    request_.receive = memory(buffer);
    return *this;
  }
  // The tensor is input and output. It changes only if `writes`.
  Call& updates(const Variable& tensor, bool writes) {
    check_output(tensor);
    const Variable buffer = filled({tensor});
    if (writes) delivers(buffer, {tensor});
    request_.receive_count = tensor.numel();
    request_.receive = memory(buffer);
    return agrees(" ", tensor.sizes());
  }

  // Returns a list that has one tensor for each rank.
  const Variables& for_all(const Variables& tensors) const {
    EBB_CHECK(static_cast<int>(tensors.size()) == size(), name(), "the list has ",
              static_cast<int>(tensors.size()), " tensors, but the group has ", size(),
              " ranks. Pass one for each");
    for (const Variable& tensor : tensors) check(tensor);
    return tensors;
  }
  // Returns such a list, in which the tensor of this rank has the shape of `own`.
  const Variables& for_all(const Variables& tensors, const Variable& own) const {
    const Variable& part = for_all(tensors)[static_cast<std::size_t>(rank())];
    EBB_CHECK(part.sizes() == own.sizes(), name(), "the tensor ", rank(), " of the list has the shape ",
              part.sizes(), ", but the tensor of this rank has ", own.sizes());
    return tensors;
  }
  // Does the same on the root. Other ranks must pass no list.
  const Variables& on_root(const Variables& tensors, const Variable& own) const {
    if (is_root()) return for_all(tensors, own);
    EBB_CHECK(tensors.empty(), name(), "rank ", rank(), " passes a list of tensors, but only rank ",
              request_.root, " needs it. Pass {}");
    return tensors;
  }
  // Returns the number of elements of each tensor; zeros without a list.
  Counts counts_of(const Variables& tensors) const {
    Counts counts;
    if (tensors.empty()) counts.resize(task_->group->ranks.size());
    for (const Variable& tensor : tensors) counts.push_back(tensor.numel());
    return counts;
  }
  // Returns the number of elements of a tensor that is sent to the root, or comes from it.
  Counts only_root(const Variable& tensor) const {
    Counts counts = counts_of({});
    counts[static_cast<std::size_t>(request_.root)] = tensor.numel();
    return counts;
  }
  // Returns the numbers of elements of parts along dimension 0.
  Counts parts_of(const Variable& tensor, const Counts& splits, const char* which) const {
    EBB_CHECK(tensor.dim() > 0, name(), "the ", which,
              " has no dimension to split. Pass a tensor of at least one dimension");
    const std::int64_t rows = tensor.size(0);
    EBB_CHECK(splits.empty() ? rows % size() == 0
                             : sum(splits) == rows && static_cast<int>(splits.size()) == size() &&
                                   *std::min_element(splits.begin(), splits.end()) >= 0,
              name(), "the ", which, " ", tensor.sizes(), " cannot be split among ", size(),
              " ranks along dimension 0. Pass ", size(), " splits that add up to ", rows);
    Counts counts = splits.empty() ? Counts(task_->group->ranks.size(), rows / size()) : splits;
    for (std::int64_t& count : counts) count *= rows == 0 ? 0 : tensor.numel() / rows;
    return counts;
  }
  Call& exchanges(Counts sent, Counts received) {
    const auto own = static_cast<std::size_t>(rank());
    EBB_CHECK(sent[own] == received[own], name(), "rank ", rank(), " sends ", sent[own],
              " elements to itself, but receives ", received[own], ". Both must be equal");
    request_.send_counts = std::move(sent);
    request_.receive_counts = std::move(received);
    return *this;
  }
  // States the parts that all ranks receive.
  Call& divides(Counts counts) {
    agrees(" ", IntArrayRef(counts));
    request_.receive_counts = std::move(counts);
    return *this;
  }
  // Checks that `whole` has a part of the same size for each rank.
  Counts even_parts(const Variable& whole, const Variable& part) const {
    EBB_CHECK(whole.numel() == part.numel() * size(), name(), "the tensor ", whole.sizes(), " must have ",
              size(), " times the elements of the tensor ", part.sizes());
    return Counts(task_->group->ranks.size(), part.numel());
  }

  Work submit(bool async_op) {
    agrees(" root ", request_.root);
    engine_.submit(task_, async_op);
    Work work(task_);
    if (!async_op) work.wait();
    return work;
  }

 private:
  void check(const Variable& tensor) const {
    EBB_CHECK(tensor.defined(), name(), "a tensor is undefined. Pass a tensor with the shape of the result");
    EBB_CHECK(tensor.scalar_type() == request_.dtype && tensor.device() == device_, name(),
              "the tensors have different dtypes or devices: ", request_.dtype, " on ", device_, " and ",
              tensor.dtype(), " on ", tensor.device(), ". Convert them with to()");
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
  bool is_direct(const Variables& tensors) const {
    return !staged_ && tensors.size() == 1 && tensors[0].is_contiguous();
  }
  Variable new_buffer(std::int64_t elements) const {
    const TensorOptions options = TensorOptions(request_.dtype);
    return staged_ ? empty({elements}, options.pinned_memory(true))
                   : empty({elements}, options.device(device_));
  }
  // Returns the tensor, or a buffer with the values of the tensors.
  Variable filled(const Variables& tensors) const {
    if (is_direct(tensors)) return tensors[0];
    const NoGradGuard no_grad;
    Variable buffer = new_buffer(sum(counts_of(tensors)));
    for_parts(buffer, tensors, [](const Variable& part, const Variable& tensor) {
      part.copy_(tensor, /*non_blocking=*/true);
    });
    return buffer;
  }
  // The result arrives in `buffer`, which is the tensor itself or must be copied to the tensors.
  void delivers(const Variable& buffer, const Variables& tensors) {
    if (is_direct(tensors)) return autograd::bump_version(tensors[0]);
    task_->finish = [buffer, tensors] {
      const NoGradGuard no_grad;
      for_parts(buffer, tensors, [](const Variable& part, const Variable& tensor) { tensor.copy_(part); });
    };
  }
  template <class F>
  static void for_parts(const Variable& buffer, const Variables& tensors, const F& body) {
    for (std::int64_t at = 0; const Variable& tensor : tensors) {
      body(buffer.narrow(0, at, tensor.numel()).view(tensor.sizes()), tensor);
      at += tensor.numel();
    }
  }
  void* memory(const Variable& tensor) {
    task_->tensors.push_back(tensor);
    if (device_.is_cuda()) {
      request_.ready = std::make_shared<cuda::Event>();
      request_.ready->record(cuda::Stream::current(device_));
    }
    return tensor.data_ptr();
  }

  Engine& engine_;
  std::shared_ptr<Task> task_;
  Request& request_;
  Device device_;
  bool staged_ = false;
};

}  // namespace

Work all_reduce(const Variable& tensor, ReduceOp op, const ProcessGroup& group, bool async_op) {
  return Call(Collective::all_reduce, tensor, group).reduces(op).updates(tensor, true).submit(async_op);
}

Work reduce(const Variable& tensor, int dst, ReduceOp op, const ProcessGroup& group, bool async_op) {
  Call call(Collective::reduce, tensor, group, dst);
  return call.reduces(op).updates(tensor, call.is_root()).submit(async_op);
}

Work broadcast(const Variable& tensor, int src, const ProcessGroup& group, bool async_op) {
  Call call(Collective::broadcast, tensor, group, src);
  return call.updates(tensor, !call.is_root()).submit(async_op);
}

Work all_gather(const Variables& outputs, const Variable& tensor, const ProcessGroup& group, bool async_op) {
  Call call(Collective::all_gather, tensor, group);
  const Counts parts = call.counts_of(call.for_all(outputs, tensor));
  return call.sends({tensor}).receives(outputs).divides(parts).submit(async_op);
}

Work all_gather_into_tensor(const Variable& output, const Variable& input, const ProcessGroup& group,
                            bool async_op) {
  Call call(Collective::all_gather, input, group);
  call.sends({input}).receives({output});
  return call.divides(call.even_parts(output, input)).submit(async_op);
}

Work reduce_scatter(const Variable& output, const Variables& inputs, ReduceOp op, const ProcessGroup& group,
                    bool async_op) {
  Call call(Collective::reduce_scatter, output, group);
  const Counts parts = call.counts_of(call.for_all(inputs, output));
  return call.reduces(op).sends(inputs).receives({output}).divides(parts).submit(async_op);
}

Work reduce_scatter_tensor(const Variable& output, const Variable& input, ReduceOp op,
                           const ProcessGroup& group, bool async_op) {
  Call call(Collective::reduce_scatter, input, group);
  call.reduces(op).sends({input}).receives({output});
  return call.divides(call.even_parts(input, output)).submit(async_op);
}

Work all_to_all(const Variables& outputs, const Variables& inputs, const ProcessGroup& group, bool async_op) {
  Call call(Collective::all_to_all, inputs.empty() ? Variable() : inputs[0], group);
  const Counts sent = call.counts_of(call.for_all(inputs)), received = call.counts_of(call.for_all(outputs));
  return call.sends(inputs).receives(outputs).exchanges(sent, received).submit(async_op);
}

Work all_to_all_single(const Variable& output, const Variable& input, const Counts& output_splits,
                       const Counts& input_splits, const ProcessGroup& group, bool async_op) {
  Call call(Collective::all_to_all, input, group);
  call.sends({input}).receives({output});
  return call
      .exchanges(call.parts_of(input, input_splits, "input"), call.parts_of(output, output_splits, "output"))
      .submit(async_op);
}

Work gather(const Variable& tensor, const Variables& outputs, int dst, const ProcessGroup& group,
            bool async_op) {
  Call call(Collective::gather, tensor, group, dst);
  const Counts received = call.counts_of(call.on_root(outputs, tensor));
  return call.sends({tensor}).receives(outputs).exchanges(call.only_root(tensor), received).submit(async_op);
}

Work scatter(const Variable& tensor, const Variables& inputs, int src, const ProcessGroup& group,
             bool async_op) {
  Call call(Collective::scatter, tensor, group, src);
  const Counts sent = call.counts_of(call.on_root(inputs, tensor));
  return call.sends(inputs).receives({tensor}).exchanges(sent, call.only_root(tensor)).submit(async_op);
}

Work barrier(const ProcessGroup& group, bool async_op) {
  return Call(Collective::barrier, empty({0}, TensorOptions(kByte)), group).submit(async_op);
}

Work isend(const Variable& tensor, int dst, const ProcessGroup& group, int tag) {
  return Call(Collective::send, tensor, group, dst).tagged(tag).sends({tensor}).submit(true);
}

Work irecv(const Variable& tensor, int src, const ProcessGroup& group, int tag) {
  return Call(Collective::receive, tensor, group, src).tagged(tag).receives({tensor}).submit(true);
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
