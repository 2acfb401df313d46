// DistributedDataParallel: finds the begin and the end of a backward pass, in which it averages gradients.
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/record.h>
#include <ebb/distributed/data_parallel.h>
#include <ebb/ops/creation.h>

#include "core/recorder.h"
#include "distributed/buckets.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

namespace ebb::distributed::detail {

using autograd::GradList;
using autograd::Node;

/// Averages the gradients of a net in backward passes.
///
/// Outputs of the net pass through a node, the Gate, which backward() reaches before the nodes of the net.
/// The Gate has an edge to another node, the End, with the smallest sequence number. The engine runs ready
/// nodes with large numbers first, so it runs the End last, when all gradients of the pass have arrived.
class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  Reducer(std::shared_ptr<nn::Module> net, DistributedDataParallelOptions options);
  ~Reducer() { detach(); }
  Reducer(const Reducer&) = delete;

  const ProcessGroup& group() const { return options_.process_group(); }
  /// Follows changes of the net's parameters since the last call.
  void prepare();
  /// Puts one Gate behind these tensors.
  void watch(const std::vector<Variable*>& tensors);
  /// Begins a pass that has reached a Gate. A pass without `whole` computes only some gradients, and does not
  /// reach the End. Returns a tensor that the pass keeps for the End.
  Variable begin(bool whole);
  void end();
  void join(const std::function<void()>& step);

  int local = 0;  // the number of living results of no_sync()

 private:
  struct Watched {
    Variable parameter;
    Ref<Node> accumulator;
    unsigned before = 0, after = 0, hook = 0;
  };
  void check_equal_nets() const;
  void attach(const std::vector<Variable>& parameters);
  void detach();
  void arrive(std::size_t i);
  [[noreturn]] void refuse(const char* call, std::size_t i);
  bool is_running() const { return token_.defined() && token_.use_count() > 1; }
  void check_last_pass();
  int announce(bool has_batch) const;
  void reduce();

  const std::shared_ptr<nn::Module> net_;
  DistributedDataParallelOptions options_;
  Ref<Node> end_;
  std::vector<Watched> watched_;
  std::optional<Buckets> buckets_;
  // The running pass holds the token too, in the state of the End. If a pass ends by an exception, only this
  // one is left.
  Variable token_;
  bool has_sent_ = false;  // the pass has started collectives
  bool failed_ = false;
  int source_ = 0;             // the rank whose buffers count
  bool is_partial_ = false;    // a pass since the last forward() computes only some gradients,
  bool is_recorded_ = false;   // and is recorded for second derivatives
  bool accumulating_ = false;  // an accumulator of the net runs
};

namespace {

struct End : Node {
  End() {
    sequence_nr_ = 0;
    add_output(zeros({}).array());
  }
  std::string name() const override { return "DistributedDataParallelEnd"; }
  bool runs_on_undefined() const override { return true; }
  GradList apply(GradList&&) override {
    if (const auto owner = reducer.lock()) owner->end();
    return {};
  }
  std::weak_ptr<Reducer> reducer;
};

struct Gate : Node {
  std::string name() const override { return "DistributedDataParallelBackward"; }
  bool runs_on_undefined() const override { return true; }
  GradList apply(GradList&& grads) override {
    GradList results;
    const auto owner = reducer.lock();
    results.push_back(owner ? owner->begin(needs(0)) : Variable());
    std::vector<Variable*> recorded;
    for (Variable& grad : grads)
      if (grad.defined()) recorded.push_back(&grad);
    // Second derivatives depend on these gradients, so a pass through them is found as well.
    if (owner && GradMode::is_enabled()) owner->watch(recorded);
    for (Variable& grad : grads) results.push_back(std::move(grad));
    return results;
  }
  std::weak_ptr<Reducer> reducer;
};

}  // namespace

Reducer::Reducer(std::shared_ptr<nn::Module> net, DistributedDataParallelOptions options)
    : net_(std::move(net)), options_(std::move(options)) {
  EBB_CHECK(net_ != nullptr, "DistributedDataParallel: the net is null. Construct it first.");
  options_.process_group(ProcessGroup(options_.process_group().checked()));
  EBB_CHECK(group().rank() >= 0, "DistributedDataParallel: this process is not in group ", group().id(),
            ". Construct it in the members of the group only.");
  EBB_CHECK(options_.bucket_cap_mb() > 0, "DistributedDataParallel: bucket_cap_mb is ",
            options_.bucket_cap_mb(), ", but must be positive.");
  EBB_CHECK(!options_.reduce_dtype() || is_floating(*options_.reduce_dtype()),
            "DistributedDataParallel: reduce_dtype is ", *options_.reduce_dtype(),
            ", but must be a floating dtype.");
}

// Throws on all ranks if the nets of two ranks differ, because their buckets would then differ.
void Reducer::check_equal_nets() const {
  std::ostringstream text;
  for (const auto& state : {net_->named_parameters(), net_->named_buffers()})
    for (const auto& item : state)
      text << item.key() << ": " << item.value().dtype() << item.value().sizes()
           << (state.key_description() == "Parameter" && !item.value().requires_grad() ? ", frozen\n" : "\n");
  const std::vector<std::string> all = all_gather_object(text.str(), group());
  for (std::size_t r = 1; r < all.size(); ++r) {
    std::istringstream first(all[0]), other(all[r]);
    for (std::string a, b; first || other;) {
      if (!std::getline(first, a)) a = "nothing";
      if (!std::getline(other, b)) b = "nothing";
      EBB_CHECK(a == b, "DistributedDataParallel: the net of rank ", std::uint64_t{r},
                " differs from that of rank 0. Rank 0 has \"", a, "\", rank ", std::uint64_t{r}, " has \"", b,
                "\". Construct the same net on all ranks.");
    }
  }
}

void Reducer::prepare() {
  ebb::detail::not_replayed("DistributedDataParallel averages gradients");
  check_last_pass();
  is_partial_ = accumulating_ = false;
  // Nodes of the net have greater sequence numbers than the End, also on this thread.
  thread_local const bool is_counted = (Ref<Node>::adopt(new End), true);
  (void)is_counted;
  std::vector<Variable> parameters = net_->parameters();
  std::erase_if(parameters, [](const Variable& parameter) { return !parameter.requires_grad(); });
  const bool same =
      buckets_ && std::equal(parameters.begin(), parameters.end(), watched_.begin(), watched_.end(),
                             [](const Variable& parameter, const Watched& each) {
                               return parameter.is_same(each.parameter) &&
                                      autograd::grad_accumulator(parameter) == each.accumulator;
                             });
  if (!same) attach(parameters);
}

// Begins to reduce the gradients of these parameters. Makes the nets of all ranks equal.
void Reducer::attach(const std::vector<Variable>& parameters) {
  for (const Variable& parameter : parameters)
    EBB_CHECK(parameter.numel() > 0, "DistributedDataParallel: a parameter of shape ", parameter.sizes(),
              " has no elements. Call a net with lazy modules once before it is wrapped.");
  check_equal_nets();
  broadcast_all(net_->parameters(), 0, group());
  broadcast_all(net_->buffers(), 0, group());
  Buckets buckets(parameters, options_);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    for (std::size_t j = 0; j < watched_.size(); ++j)
      if (parameters[i].is_same(watched_[j].parameter) && buckets_->is_touched(j)) buckets.touch(i);
  detach();
  buckets_.emplace(std::move(buckets));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Watched each{parameters[i], autograd::grad_accumulator(parameters[i])};
    each.before = autograd::add_pre_hook(*each.accumulator, [this](const variable_list&) {
      accumulating_ = true;
      return variable_list{};
    });
    each.after =
        autograd::add_post_hook(*each.accumulator, [this, i](const variable_list&, const variable_list&) {
          accumulating_ = false;
          arrive(i);
          return variable_list{};
        });
    each.hook = each.parameter.register_hook([this, i](const Variable&) {
      if (is_partial_ && !accumulating_) refuse("autograd::grad", i);
    });
    watched_.push_back(std::move(each));
  }
}

void Reducer::detach() {
  for (const Watched& each : watched_) {
    autograd::remove_node_hook(*each.accumulator, each.before);
    autograd::remove_node_hook(*each.accumulator, each.after);
    each.parameter.remove_hook(each.hook);
  }
  watched_.clear();
}

void Reducer::watch(const std::vector<Variable*>& tensors) {
  if (tensors.empty()) return;
  if (!end_) {
    const Ref<End> end = Ref<End>::adopt(new End);
    end->reducer = weak_from_this();
    end_ = end;
  }
  const Ref<Gate> gate = Ref<Gate>::adopt(new Gate);
  gate->reducer = weak_from_this();
  gate->add_edge({end_, 0});
  for (Variable* const tensor : tensors) {
    gate->add_input(*tensor);
    *tensor = tensor->detach();
    autograd::set_history(*tensor, gate);
  }
}

// Throws if the last pass ended by an exception when other ranks had begun to rely on this one.
void Reducer::check_last_pass() {
  if (token_.defined() && !is_running()) {
    failed_ |= has_sent_ || buckets_->has_started();
    token_.reset();
    buckets_->reset();
  }
  EBB_CHECK(!failed_,
            "DistributedDataParallel: the last backward() ended by an exception after its first collective, "
            "so the collectives of the ranks no longer match. Restart from a checkpoint.");
}

Variable Reducer::begin(bool whole) {
  if (is_running()) return {};  // another Gate of the same pass
  check_last_pass();
  if (!whole) {
    is_partial_ = true;
    is_recorded_ = GradMode::is_enabled();
    return {};
  }
  EBB_CHECK(!GradMode::is_enabled(),
            "DistributedDataParallel: backward() with create_graph would not differentiate the average of "
            "the gradients. Compute the first derivative by autograd::grad with respect to an input, or call "
            "the wrapped net (`module`) and average by distributed::functional::all_reduce.");
  is_partial_ = has_sent_ = false;
  source_ = 0;
  token_ = zeros({});
  if (options_.uneven_inputs()) {
    has_sent_ = true;
    source_ = announce(true);
  }
  return token_;
}

void Reducer::arrive(std::size_t i) {
  if (is_running()) return buckets_->arrive(i);
  buckets_->touch(i);
  if (is_partial_ && (!is_recorded_ || GradMode::is_enabled())) refuse("backward() with a list of inputs", i);
}

void Reducer::refuse(const char* call, std::size_t i) {
  is_partial_ = false;  // the next pass is a new one
  std::string name = "a parameter";
  for (const auto& item : net_->named_parameters())
    if (item.value().is_same(watched_[i].parameter)) name = item.key();
  ebb::detail::fail(
      "DistributedDataParallel: ", call, " does not average the gradient of ", name,
      " over the ranks. Call backward() without these arguments, or call the wrapped net (`module`) "
      "and average the gradient by distributed::all_reduce.");
}

void Reducer::end() {
  reduce();
  token_.reset();
}

// Reduces what has not been reduced yet, and copies the buffers.
void Reducer::reduce() {
  failed_ = true;  // until all collectives have succeeded
  buckets_->finish();
  if (options_.broadcast_buffers()) broadcast_all(net_->buffers(), source_, group());
  failed_ = false;
}

// Tells all ranks whether this one has a batch. Returns the last rank that has one, or -1.
int Reducer::announce(bool has_batch) const {
  const std::vector<Variable> parameters = net_->parameters();
  const Device device = parameters.empty() ? Device(kCPU) : parameters[0].device();
  const Variable last = full({1}, has_batch ? group().rank() : -1, TensorOptions(kLong).device(device));
  all_reduce(last, ReduceOp::MAX, group());
  return last.item<int>();
}

void Reducer::join(const std::function<void()>& step) {
  EBB_CHECK(options_.uneven_inputs(),
            "DistributedDataParallel::join needs the option uneven_inputs(true) on all ranks.");
  const NoGradGuard no_grad;
  check_last_pass();
  while ((source_ = announce(false)) >= 0) {
    for (const Watched& each : watched_) each.parameter.mutable_grad().reset();
    reduce();
    if (step) step();
  }
}

DataParallelModule::DataParallelModule(const std::shared_ptr<nn::Module>& net,
                                       const DistributedDataParallelOptions& options)
    : nn::Module("DistributedDataParallel"), reducer_(std::make_shared<Reducer>(net, options)) {
  register_module("module", net);
  reducer_->prepare();
  const auto rename = [](StateDict& state, const auto& new_name) {
    StateDict renamed;
    for (const auto& item : state) renamed.insert(new_name(item.key()), item.value());
    state = std::move(renamed);
  };
  register_state_dict_post_hook([rename](const nn::Module&, StateDict& state, const std::string& prefix) {
    const std::string old = prefix + "module.";
    rename(state, [&](const std::string& key) {
      return key.starts_with(old) ? prefix + key.substr(old.size()) : key;
    });
  });
  register_load_state_dict_pre_hook([rename, net = net.get()](nn::Module&, StateDict& state,
                                                              const std::string& prefix) {
    const StateDict own = net->state_dict();
    rename(state, [&](const std::string& key) {
      const std::string name = key.starts_with(prefix) ? key.substr(prefix.size()) : "";
      return name.empty() || (name.starts_with("module.") && !own.contains(name)) ? key
                                                                                  : prefix + "module." + name;
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
  std::vector<Variable*> recorded;
  for (Variable* const output : outputs)
    if (output->defined() && output->requires_grad()) recorded.push_back(output);
  reducer_->watch(recorded);
}

}  // namespace ebb::distributed::detail
