// DistributedDataParallel: finds the begin and the end of a backward pass, in which it averages gradients.
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/record.h>
#include <ebb/distributed/data_parallel.h>
#include <ebb/ops/creation.h>

#include "core/recorder.h"
#include "distributed/buckets.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ebb::distributed::detail {

using autograd::GradList;
using autograd::Node;

/// Averages the gradients of a net in backward passes.
///
/// Outputs of the net pass through a node, the Gate, which backward() reaches before the nodes of the net. It
/// has edges to two more nodes:
/// - The End has the smallest sequence number. The engine runs ready nodes with large numbers first, so it
///   runs the End last, when all gradients of the pass have arrived. A pass that computes only some gradients
///   does not reach it.
/// - The first Guard. Guards have edges to the gradient accumulators of all parameters. So the Gate runs
///   before them, and a Guard runs if a pass computes only some gradients, and that of its parameter.
class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  Reducer(std::shared_ptr<nn::Module> net, const DistributedDataParallelOptions& options);
  ~Reducer() { detach(); }
  Reducer(const Reducer&) = delete;

  const ProcessGroup& group() const { return options_.process_group(); }
  /// Follows changes of the net's parameters since the last call.
  void prepare();
  /// Puts one Gate behind those of these tensors that are defined.
  void watch(const std::vector<Variable*>& tensors);
  /// Begins a pass that has reached a Gate. Returns a tensor that the pass keeps for the End.
  Variable begin();
  void end();
  void join(const std::function<void()>& step);
  /// Throws an error about the gradient of the parameter with this number.
  [[noreturn]] void refuse(std::size_t i, const char* reason) const;

  int local = 0;  // the number of living results of no_sync()

 private:
  Variables trainable() const;
  void attach(const Variables& parameters);
  void detach();
  void arrive(std::size_t i);
  bool is_running() const { return token_.defined() && token_.use_count() > 1; }
  void check_last_pass();
  int announce(bool has_batch) const;
  void reduce();

  const std::shared_ptr<nn::Module> net_;
  const DistributedDataParallelOptions options_;
  Buckets buckets_;
  Ref<Node> end_, guard_;
  std::vector<std::pair<Ref<Node>, unsigned>> hooks_;  // the accumulators of the parameters
  // The running pass holds the token too, in the state of the End. If a pass ends by an exception, only this
  // one is left.
  Variable token_;
  bool has_sent_ = false;  // a pass has started collectives besides those of buckets, and has not ended
  int source_ = 0;         // the rank whose buffers count
};

namespace {

struct End : Node {
  explicit End(Reducer* owner) : reducer(owner) {
    sequence_nr_ = 0;
    add_output(zeros({}).array());
  }
  std::string name() const override { return "DistributedDataParallelEnd"; }
  GradList apply(GradList&&) override {
    reducer->end();
    return {};
  }
  Reducer* reducer;
};

struct Guard : Node {
  Guard(Reducer* owner, std::size_t i, const Ref<Node>& accumulator, const Ref<Node>& next)
      : reducer(owner), parameter(i) {
    sequence_nr_ = std::numeric_limits<std::uint64_t>::max();
    add_output(zeros({}).array());
    add_edge({accumulator, 0});
    add_edge({next, 0});
  }
  std::string name() const override { return "DistributedDataParallelGuard"; }
  GradList apply(GradList&& grads) override {
    if (needs(0))
      reducer->refuse(parameter,
                      "is not averaged by autograd::grad, or by backward() with a list of inputs. Call "
                      "backward() without these arguments, or call the wrapped net (`module`) and average "
                      "the gradient by distributed::all_reduce.");
    GradList results(2);
    results[1] = std::move(grads[0]);
    return results;
  }
  Reducer* reducer;
  std::size_t parameter;
};

struct Gate : Node {
  std::string name() const override { return "DistributedDataParallelBackward"; }
  bool runs_on_undefined() const override { return true; }
  GradList apply(GradList&& grads) override {
    const bool whole = needs(0);
    GradList results;
    results.push_back(whole ? reducer->begin() : Variable());
    results.push_back(whole ? Variable() : zeros({}));  // a Guard runs only if a gradient arrives
    std::vector<Variable*> recorded;
    for (Variable& grad : grads) recorded.push_back(&grad);
    // Second derivatives depend on these gradients, so a pass through them is found as well.
    if (GradMode::is_enabled()) reducer->watch(recorded);
    for (Variable& grad : grads) results.push_back(std::move(grad));
    return results;
  }
  std::shared_ptr<Reducer> reducer;  // also when the module is destroyed before backward()
};

}  // namespace

Reducer::Reducer(std::shared_ptr<nn::Module> net, const DistributedDataParallelOptions& options)
    : net_(std::move(net)), options_(options), buckets_(options), end_(Ref<Node>::adopt(new End(this))) {
  EBB_CHECK(net_ != nullptr, "DistributedDataParallel: the net is null. Construct it first.");
  EBB_CHECK(options.bucket_cap_mb() > 0, "DistributedDataParallel: bucket_cap_mb is ",
            options.bucket_cap_mb(), ", but must be positive.");
  EBB_CHECK(!options.reduce_dtype() || is_floating(*options.reduce_dtype()),
            "DistributedDataParallel: reduce_dtype is ", *options.reduce_dtype(),
            ", but must be a floating dtype.");
  attach(trainable());
}

Variables Reducer::trainable() const {
  Variables parameters = net_->parameters();
  std::erase_if(parameters, [](const Variable& parameter) { return !parameter.requires_grad(); });
  return parameters;
}

void Reducer::prepare() {
  ebb::detail::not_replayed("DistributedDataParallel averages gradients");
  if (in_shard) refuse_in_shard("DistributedDataParallel");
  check_last_pass();
  // Nodes of the net have greater sequence numbers than the End, also on this thread.
  thread_local const bool is_counted = (Ref<Node>::adopt(new End(nullptr)), true);
  (void)is_counted;
  const Variables parameters = trainable();
  const bool same = std::equal(parameters.begin(), parameters.end(), hooks_.begin(), hooks_.end(),
                               [](const Variable& parameter, const auto& hook) {
                                 return autograd::grad_accumulator(parameter) == hook.first;
                               });
  if (!same) attach(parameters);
}

// Begins to reduce the gradients of these parameters. Makes the nets of all ranks equal.
void Reducer::attach(const Variables& parameters) {
  for (const Variable& parameter : parameters)
    EBB_CHECK(parameter.numel() > 0, "DistributedDataParallel: a parameter of shape ", parameter.sizes(),
              " has no elements. Call a net with lazy modules once before it is wrapped.");
  make_replicas("DistributedDataParallel", *net_, group());
  buckets_.assign(parameters);
  detach();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Ref<Node> accumulator = autograd::grad_accumulator(parameters[i]);
    guard_ = Ref<Node>::adopt(new Guard(this, i, accumulator, guard_));
    hooks_.emplace_back(accumulator,
                        autograd::add_post_hook(*accumulator, [this, i](const auto&, const auto&) {
                          arrive(i);
                          return variable_list{};
                        }));
  }
}

void Reducer::detach() {
  for (const auto& [accumulator, hook] : hooks_) autograd::remove_node_hook(*accumulator, hook);
  hooks_.clear();
  guard_ = {};
}

void Reducer::watch(const std::vector<Variable*>& tensors) {
  const Ref<Gate> gate = Ref<Gate>::adopt(new Gate);
  gate->reducer = shared_from_this();
  gate->add_edge({end_, 0});
  gate->add_edge({guard_, 0});
  for (Variable* const tensor : tensors) {
    if (!tensor->defined()) continue;
    gate->add_input(*tensor);
    *tensor = tensor->detach();
    autograd::set_history(*tensor, gate);
  }
}

// Throws if the last pass ended by an exception when other ranks had begun to rely on this one.
void Reducer::check_last_pass() {
  if (is_running()) return;
  EBB_CHECK(!has_sent_ && !buckets_.has_started(),
            "DistributedDataParallel: the last backward() ended by an exception after its first collective, "
            "so the collectives of the ranks no longer match. Restart from a checkpoint.");
  buckets_.reset();
}

Variable Reducer::begin() {
  if (is_running()) return {};  // another Gate of the same pass
  check_last_pass();
  EBB_CHECK(!GradMode::is_enabled(),
            "DistributedDataParallel: backward() with create_graph would not differentiate the average of "
            "the gradients. Compute the first derivative by autograd::grad with respect to an input, or call "
            "the wrapped net (`module`) and average by distributed::functional::all_reduce.");
  token_ = zeros({});
  has_sent_ = options_.uneven_inputs();
  source_ = has_sent_ ? announce(true) : 0;
  return token_;
}

void Reducer::arrive(std::size_t i) {
  if (!is_running())
    buckets_.touch(i);
  else if (!buckets_.arrive(i))
    refuse(i,
           "has got another gradient after its reduction, from a backward() inside of backward(). Call it "
           "after the other one, under no_sync().");
}

void Reducer::refuse(std::size_t i, const char* reason) const {
  std::string name = "a parameter";
  for (const auto& item : net_->named_parameters())
    if (item.value().is_same(buckets_.parameter(i))) name = item.key();
  ebb::detail::fail("DistributedDataParallel: the gradient of ", name, " ", reason);
}

void Reducer::end() {
  reduce();
  token_.reset();
}

// Reduces what has not been reduced yet, and copies the buffers.
void Reducer::reduce() {
  has_sent_ = true;
  buckets_.finish();
  if (options_.broadcast_buffers()) broadcast_all(net_->buffers(), source_, group());
  has_sent_ = false;
}

// Tells all ranks whether this one has a batch. Returns the last rank that has one, or -1.
int Reducer::announce(bool has_batch) const {
  const Variable last = full({1}, has_batch ? group().rank() : -1, TensorOptions(kLong));
  all_reduce(last, ReduceOp::MAX, group());
  return last.item<int>();
}

void Reducer::join(const std::function<void()>& step) {
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
