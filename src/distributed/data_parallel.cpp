// DistributedDataParallel: finds the begin and the end of a backward pass, in which it averages gradients.
#include <ebb/autograd/record.h>
#include <ebb/distributed/data_parallel.h>

#include "core/recorder.h"
#include "distributed/buckets.h"

#include <limits>

namespace ebb::distributed::detail {

using autograd::GradList;
using autograd::Node;

namespace {

/// A node of the graph that runs a function, also if no gradient arrives.
struct Step : Node {
  using Function = std::function<GradList(const Node&, GradList&&)>;
  Step(const char* name, Function body) : label(name), function(std::move(body)) {}
  /// Has one output. Of several nodes that are ready, the one with the greatest `order` runs first.
  Step(const char* name, std::uint64_t order, Function body) : Step(name, std::move(body)) {
    sequence_nr_ = order;
    add_output(zeros({}).array());
  }
  std::string name() const override { return label; }
  bool runs_on_undefined() const override { return true; }
  GradList apply(GradList&& grads) override { return function(*this, std::move(grads)); }

  const char* const label;
  const Function function;
};

}  // namespace

/// Averages the gradients of a net in backward passes.
///
/// Outputs of the net pass through a node, the gate, which backward() reaches before the nodes of the net. It
/// has edges to two more nodes:
/// - The end is the last node of a pass, when all gradients have arrived. A pass that computes only some
///   gradients does not need it.
/// - The first guard. Guards have edges to the gradient accumulators of all parameters. So the gate runs
///   before them, and a guard knows whether a pass that computes only some gradients needs its parameter's.
class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  Reducer(std::shared_ptr<nn::Module> net, const DistributedDataParallelOptions& options)
      : net_(std::move(net)), options_(options), buckets_(options) {
    EBB_CHECK(net_ != nullptr, "DistributedDataParallel: the net is null. Construct it first.");
    EBB_CHECK(options.bucket_cap_mb() > 0, "DistributedDataParallel: bucket_cap_mb is ",
              options.bucket_cap_mb(), ", but must be positive.");
    EBB_CHECK(!options.reduce_dtype() || is_floating(*options.reduce_dtype()),
              "DistributedDataParallel: reduce_dtype is ", *options.reduce_dtype(),
              ", but must be a floating dtype.");
    prepare();
  }
  ~Reducer() { detach(); }
  Reducer(const Reducer&) = delete;

  const ProcessGroup& group() const { return options_.process_group(); }

  /// Follows changes of the net's parameters since the last call.
  void prepare() {
    ebb::detail::not_replayed("DistributedDataParallel averages gradients");
    if (in_shard) refuse_in_shard("DistributedDataParallel");
    check_last_pass();
    // Nodes of the net have greater sequence numbers than the end, also on this thread.
    thread_local const auto counted = Ref<Node>::adopt(new Step("", 0, {}));
    const Variables parameters = trainable(*net_);
    const bool same = std::equal(parameters.begin(), parameters.end(), hooks_.begin(), hooks_.end(),
                                 [](const Variable& parameter, const auto& hook) {
                                   return autograd::grad_accumulator(parameter) == hook.first;
                                 });
    if (!end_ || !same) attach(parameters);
  }

  /// Puts one gate behind those of these tensors that are defined. Their graph keeps the reducer.
  void watch(const std::vector<Variable*>& tensors) {
    const auto run = [self = shared_from_this()](const Node& node, GradList&& grads) {
      const bool whole = node.needs(0);
      GradList results;
      results.push_back(whole ? self->begin() : Variable());
      results.push_back(whole ? Variable() : zeros({}));  // tells the guards to look
      std::vector<Variable*> recorded;
      for (Variable& grad : grads) recorded.push_back(&grad);
      // Second derivatives depend on these gradients, so a pass through them is found as well.
      if (GradMode::is_enabled()) self->watch(recorded);
      for (Variable& grad : grads) results.push_back(std::move(grad));
      return results;
    };
    const auto gate = Ref<Node>::adopt(new Step("DistributedDataParallelBackward", run));
    gate->add_edge({end_, 0});
    gate->add_edge({guard_, 0});
    for (Variable* const tensor : tensors) {
      if (!tensor->defined()) continue;
      gate->add_input(*tensor);
      *tensor = tensor->detach();
      autograd::set_history(*tensor, gate);
    }
  }

  void join(const std::function<void()>& step) {
    EBB_CHECK(options_.uneven_inputs(),
              "DistributedDataParallel::join needs the option uneven_inputs(true) on all ranks.");
    const NoGradGuard no_grad;
    check_last_pass();
    while ((source_ = announce(false)) >= 0) {
      for (std::size_t i = 0; i < hooks_.size(); ++i) buckets_.parameter(i).mutable_grad().reset();
      reduce();
      if (step) step();
    }
  }

  int local = 0;  // the number of living results of no_sync()

 private:
  // Begins to reduce the gradients of these parameters. Makes the nets of all ranks equal.
  void attach(const Variables& parameters) {
    for (const Variable& parameter : parameters)
      EBB_CHECK(parameter.numel() > 0, "DistributedDataParallel: a parameter of shape ", parameter.sizes(),
                " has no elements. Call a net with lazy modules once before it is wrapped.");
    make_replicas("DistributedDataParallel", *net_, group());
    buckets_.assign(parameters);
    detach();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Ref<Node> accumulator = autograd::grad_accumulator(parameters[i]), next = guard_;
      const auto look = [this, parameter = parameters[i]](const Node& node, GradList&& grads) {
        if (grads[0].defined() && node.needs(0))
          refuse(parameter,
                 "is not averaged by autograd::grad, or by backward() with a list of inputs. Call backward() "
                 "without these arguments, or call the wrapped net (`module`) and average the gradient by "
                 "distributed::all_reduce.");
        return GradList{Variable(), grads[0]};
      };
      constexpr auto kFirst = std::numeric_limits<std::uint64_t>::max();
      guard_ = Ref<Node>::adopt(new Step("DistributedDataParallelGuard", kFirst, look));
      guard_->add_edge({accumulator, 0});
      guard_->add_edge({next, 0});
      const auto arrived = [this, i](const variable_list&, const variable_list&) {
        arrive(i);
        return variable_list{};
      };
      hooks_.emplace_back(accumulator, autograd::add_post_hook(*accumulator, arrived));
    }
    end_ = Ref<Node>::adopt(new Step("DistributedDataParallelEnd", 0, [this](const Node&, GradList&&) {
      reduce();
      token_.reset();
      return GradList();
    }));
  }

  void detach() {
    for (const auto& [accumulator, hook] : hooks_) autograd::remove_node_hook(*accumulator, hook);
    hooks_.clear();
    guard_ = {};
  }

  bool is_running() const { return token_.defined() && token_.use_count() > 1; }

  // Throws if the last pass ended by an exception when other ranks had begun to rely on this one.
  void check_last_pass() {
    if (is_running()) return;
    EBB_CHECK(
        !has_sent_ && !buckets_.has_started(),
        "DistributedDataParallel: the last backward() ended by an exception after its first collective, "
        "so the collectives of the ranks no longer match. Restart from a checkpoint.");
    buckets_.reset();
  }

  // Begins a pass that has reached a gate. Returns a tensor that the pass keeps for the end.
  Variable begin() {
    if (is_running()) return {};  // another gate of the same pass
    check_last_pass();
    EBB_CHECK(!GradMode::is_enabled(),
              "DistributedDataParallel: backward() with create_graph would not differentiate the average of "
              "the gradients. Compute the first derivative by autograd::grad with respect to an input, or "
              "call the wrapped net (`module`) and average by distributed::functional::all_reduce.");
    token_ = zeros({});
    has_sent_ = options_.uneven_inputs();
    source_ = has_sent_ ? announce(true) : 0;
    return token_;
  }

  void arrive(std::size_t i) {
    if (!is_running())
      buckets_.touch(i);
    else if (!buckets_.arrive(i))
      refuse(buckets_.parameter(i),
             "has got another gradient after its reduction, from a backward() inside of backward(). Call it "
             "after the other one, under no_sync().");
  }

  [[noreturn]] void refuse(const Variable& parameter, const char* reason) const {
    std::string name = "a parameter";
    for (const auto& item : net_->named_parameters())
      if (item.value().is_same(parameter)) name = item.key();
    ebb::detail::fail("DistributedDataParallel: the gradient of ", name, " ", reason);
  }

  // Reduces what has not been reduced yet, and copies the buffers.
  void reduce() {
    has_sent_ = true;
    buckets_.finish();
    if (options_.broadcast_buffers()) broadcast_all(net_->buffers(), source_, group());
    has_sent_ = false;
  }

  // Tells all ranks whether this one has a batch. Returns the last rank that has one, or -1.
  int announce(bool has_batch) const {
    const Variable last = full({1}, has_batch ? group().rank() : -1, TensorOptions(kLong));
    all_reduce(last, ReduceOp::MAX, group());
    return last.item<int>();
  }

  const std::shared_ptr<nn::Module> net_;
  const DistributedDataParallelOptions options_;
  Buckets buckets_;
  Ref<Node> end_, guard_;
  std::vector<std::pair<Ref<Node>, unsigned>> hooks_;  // of the accumulators of the parameters
  // The running pass holds the token too, as the gradient of the end. If a pass ends by an exception, only
  // this one is left.
  Variable token_;
  bool has_sent_ = false;  // a pass has started collectives besides those of buckets, and has not ended
  int source_ = 0;         // the rank whose buffers count
};

namespace {

// Replaces each name after the prefix by f(name).
template <class F>
void rename(nn::Module::StateDict& state, const std::string& prefix, const F& f) {
  nn::Module::StateDict renamed;
  for (const auto& item : state) {
    const std::string& key = item.key();
    renamed.insert(key.starts_with(prefix) ? prefix + f(key.substr(prefix.size())) : key, item.value());
  }
  state = std::move(renamed);
}

}  // namespace

DataParallelModule::DataParallelModule(const std::shared_ptr<nn::Module>& net,
                                       const DistributedDataParallelOptions& options)
    : nn::Module("DistributedDataParallel"), reducer_(std::make_shared<Reducer>(net, options)) {
  register_module("module", net);
  register_state_dict_post_hook([](const nn::Module&, StateDict& state, const std::string& prefix) {
    rename(state, prefix,
           [](const std::string& name) { return name.starts_with("module.") ? name.substr(7) : name; });
  });
  register_load_state_dict_pre_hook(
      [net = net.get()](nn::Module&, StateDict& state, const std::string& prefix) {
        const StateDict own = net->state_dict();
        rename(state, prefix, [&](const std::string& name) {
          return name.starts_with("module.") && !own.contains(name) ? name : "module." + name;
        });
      });
}

DataParallelModule::~DataParallelModule() = default;

const ProcessGroup& DataParallelModule::process_group() const { return reducer_->group(); }

std::shared_ptr<void> DataParallelModule::no_sync() {
  ++reducer_->local;
  return {nullptr, [reducer = reducer_](void*) { --reducer->local; }};
}

void DataParallelModule::join(const std::function<void()>& step) { reducer_->join(step); }

void DataParallelModule::before_forward() {
  if (GradMode::is_enabled()) reducer_->prepare();
}

void DataParallelModule::after_forward(const std::vector<Variable*>& outputs) {
  if (!GradMode::is_enabled() || reducer_->local) return;
  std::vector<Variable*> recorded = outputs;
  std::erase_if(recorded, [](Variable* output) { return !output->defined() || !output->requires_grad(); });
  if (!recorded.empty()) reducer_->watch(recorded);
}

}  // namespace ebb::distributed::detail
