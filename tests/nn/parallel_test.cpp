// data_parallel over several replicas, and convert_sync_batchnorm.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/scopes.h"

#include <mutex>
#include <set>
#include <thread>

// One batch over several replicas: outputs, gradients, buffers and exceptions equal those of one module.

using namespace ebb;
using support::Contains;
namespace parallel = nn::parallel;

namespace {

using Devices = std::vector<Device>;

// Records the state of the threads of replicas.
struct Notes {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::vector<bool> grad_modes, autocast, inference;
};

// An embedding that shares its weight with the last layer, a layer with a bias, and a buffer.
struct NetImpl : nn::Cloneable<NetImpl> {
  explicit NetImpl(Notes* notes_ = nullptr) : notes(notes_) { NetImpl::reset(); }
  void reset() override {
    first = register_module("first", nn::Linear(nn::LinearOptions(4, 3).bias(false)));
    middle = register_module("middle", nn::Linear(3, 3));
    last = register_module("last", nn::Linear(nn::LinearOptions(4, 3).bias(false)));
    offset = register_buffer("offset", full({3}, 0.5, kDouble));
    to(kDouble);
    tie_weights();
  }
  void tie_weights() override { last->weight = last->replace_parameter("weight", first->weight); }
  Variable forward(const Variable& x) {
    if (notes) {
      const std::lock_guard lock(notes->mutex);
      notes->threads.insert(std::this_thread::get_id());
      notes->grad_modes.push_back(GradMode::is_enabled());
      notes->autocast.push_back(autocast::is_autocast_enabled(kCPU));
      notes->inference.push_back(InferenceMode::is_enabled());
    }
    return tanh(middle(first(x)) + offset).matmul(last->weight);
  }
  nn::Linear first = nullptr, middle = nullptr, last = nullptr;
  Variable offset;
  Notes* notes;
};
EBB_MODULE(Net);

// Throws for a batch whose first number is the given one.
struct ThrowingImpl : nn::Cloneable<ThrowingImpl> {
  void reset() override {}
  Variable forward(const Variable& x) {
    EBB_CHECK(x.flatten()[0].item<double>() < 2, "the replica refuses ", x.flatten()[0].item<double>());
    return x;
  }
};
EBB_MODULE(Throwing);

void require_close(const Variable& a, const Variable& b) { REQUIRE(allclose(a, b, 1e-12, 1e-14)); }

variable_list gradients(Net& net) {
  variable_list grads;
  for (const Variable& p : net->parameters()) grads.push_back(p.grad());
  net->zero_grad(true);
  return grads;
}

}  // namespace

TEST_CASE("data_parallel has the outputs and gradients of a single module") {
  manual_seed(1);
  Net net;
  for (const std::size_t replicas : {1, 2, 3, 5}) {
    const Variable x = randn({7, 4}, kDouble).requires_grad_(), seed = randn({7, 4}, kDouble);
    const Variable one = net(x);
    one.backward(seed);
    const variable_list grads = gradients(net);
    const Variable dx = x.grad();
    x.mutable_grad().reset();

    const Variable many = parallel::data_parallel(net, x, Devices(replicas, kCPU));
    require_close(many, one);
    many.backward(seed);
    const variable_list sums = gradients(net);
    REQUIRE(sums.size() == 3);
    for (std::size_t i = 0; i < sums.size(); ++i) require_close(sums[i], grads[i]);
    require_close(x.grad(), dx);
  }
}

TEST_CASE("data_parallel supports second derivatives") {
  manual_seed(1);
  Net net;
  const variable_list parameters = net->parameters();
  const Variable x = randn({4, 4}, kDouble);
  const auto curvature = [&](const Variable& y) {
    Variable norm;
    for (const Variable& g : autograd::grad({y.pow(2).sum()}, parameters, {}, true, true))
      norm = norm.defined() ? norm + g.pow(2).sum() : g.pow(2).sum();
    return autograd::grad({norm}, parameters);
  };
  const variable_list one = curvature(net(x)),
                      two = curvature(parallel::data_parallel(net, x, Devices{kCPU, kCPU}));
  for (std::size_t i = 0; i < one.size(); ++i) require_close(two[i], one[i]);
}

TEST_CASE("scatter and gather split and join along the given dimension") {
  const Variable x = arange(24, kDouble).reshape({2, 3, 4});
  const auto pieces = parallel::scatter(x, Devices(2, kCPU), 2);
  REQUIRE(pieces.size() == 2);
  CHECK(pieces[1].sizes() == IntArrayRef({2, 3, 2}));
  CHECK(equal(parallel::gather(pieces, kCPU, 2), x));
  // There are no more pieces than rows.
  CHECK(parallel::scatter(x, Devices(5, kCPU)).size() == 2);
  CHECK(parallel::gather({x[0][0][1], x[0][0][2]}, kCPU).sizes() == IntArrayRef({2}));

  nn::Sequential net(nn::Linear(nn::LinearOptions(4, 4).bias(false)));
  net->to(kDouble);
  require_close(parallel::data_parallel(net, x, Devices(3, kCPU), nullopt, 1), net->forward(x));
}

TEST_CASE("parameters of replicas share the memory of the module's parameters and are not leaves") {
  Net net;
  const Variable generator = get_rng_state();
  auto replicas = parallel::replicate(net, Devices{kCPU, kCPU});
  CHECK(equal(get_rng_state(), generator));
  REQUIRE(replicas.size() == 2);
  for (const auto& replica : replicas) {
    CHECK_FALSE(replica->middle->weight.is_leaf());
    CHECK(replica->middle->weight.requires_grad());
    CHECK(replica->middle->weight.data_ptr<double>() == net->middle->weight.data_ptr<double>());
    CHECK(replica->last->weight.is_same(replica->first->weight));
  }
  CHECK(replicas[0]->offset.data_ptr<double>() == net->offset.data_ptr<double>());
  CHECK(replicas[1]->offset.data_ptr<double>() != net->offset.data_ptr<double>());
  net->middle->bias.requires_grad_(false);
  CHECK_FALSE(parallel::replicate(net, Devices{kCPU})[0]->middle->bias.requires_grad());
  {
    const NoGradGuard no_grad;
    CHECK_FALSE(parallel::replicate(net, Devices{kCPU})[0]->middle->weight.requires_grad());
  }
  // A buffer can also be differentiated.
  net->offset.requires_grad_();
  parallel::replicate(net, Devices{kCPU, kCPU})[1]->offset.sum().backward();
  CHECK(equal(net->offset.grad(), ones({3}, kDouble)));
}

TEST_CASE("data_parallel updates running statistics from the first piece of the batch") {
  manual_seed(1);
  nn::BatchNorm1d norm(2), expected(2);
  const Variable x = randn({6, 2});
  expected(x.narrow(0, 0, 3));
  parallel::data_parallel(norm, x, Devices{kCPU, kCPU});
  CHECK(allclose(norm->running_mean, expected->running_mean));
  CHECK(allclose(norm->running_var, expected->running_var));
  CHECK(norm->num_batches_tracked.item<std::int64_t>() == 1);
}

TEST_CASE("replicas run in separate threads with the grad, autocast and inference modes of the caller") {
  Notes notes;
  Net net(&notes);
  net->to(kFloat);
  const Variable x = ones({6, 4});
  {
    const NoGradGuard no_grad;
    const amp::autocast casting(kCPU, kBFloat16);
    CHECK(parallel::data_parallel(net, x, Devices(3, kCPU)).dtype() == kBFloat16);
  }
  CHECK(notes.threads.size() == 3);
  CHECK(notes.threads.contains(std::this_thread::get_id()));
  CHECK(notes.grad_modes == std::vector<bool>(3, false));
  CHECK(notes.autocast == std::vector<bool>(3, true));
  notes.grad_modes.clear();
  parallel::data_parallel(net, x, Devices(3, kCPU));
  CHECK(notes.grad_modes == std::vector<bool>(3, true));
  notes.inference.clear();
  const InferenceMode inference;
  CHECK(parallel::data_parallel(net, x, Devices(3, kCPU)).is_inference());
  CHECK(notes.inference == std::vector<bool>(3, true));
}

TEST_CASE("an exception in a replica is rethrown after all replicas have finished") {
  Throwing net;
  const auto call = [&](std::vector<double> rows) {
    return parallel::data_parallel(net, tensor(rows, kDouble), Devices(3, kCPU));
  };
  CHECK(call({0, 1, 1}).numel() == 3);
  CHECK_THROWS_WITH(call({0, 4, 3}), Contains("refuses 4"));
  CHECK_THROWS_WITH(call({5, 4, 3}), Contains("refuses 5"));
  CHECK_THROWS_WITH(call({0, 0, 3}), Contains("refuses 3"));
}

TEST_CASE("data_parallel functions throw for invalid arguments") {
  Net net;
  const Variable x = ones({2, 4}, kDouble);
  CHECK_THROWS_WITH(parallel::data_parallel(net, x, Devices{}), Contains("no device"));
  if (!cuda::is_available()) CHECK_THROWS_WITH(parallel::data_parallel(net, x), Contains("{kCPU, kCPU}"));
  std::vector<Net> two = {net, net};
  CHECK_THROWS_WITH(parallel::parallel_apply(two, {x}), Contains("2 modules, 1 inputs"));
  CHECK_THROWS_WITH(parallel::parallel_apply(two, {x, x}, Devices{kCPU}), Contains("1 devices"));
  CHECK_THROWS_WITH(parallel::gather({}, kCPU), Contains("no tensors"));
  CHECK_THROWS_WITH(parallel::replicate(std::shared_ptr<nn::LinearImpl>(), Devices{kCPU}),
                    Contains("no module"));
}

TEST_CASE("data_parallel throws if the system cannot start a thread") {
  Net net;
  const Variable x = ones({2, 4}, kDouble);
  const support::NoThreads refused;
  CHECK_THROWS_WITH(parallel::data_parallel(net, x, Devices{kCPU, kCPU}),
                    Contains("parallel_apply: the system refuses a thread"));
}

// Batch norms that become SyncBatchNorm.

namespace {

// Has a batch norm as a class member, and others in containers.
struct MixedImpl : nn::Cloneable<MixedImpl> {
  MixedImpl() { MixedImpl::reset(); }
  void reset() override {
    own = register_module("own", nn::BatchNorm1d(3));
    list = register_module("list", nn::ModuleList(nn::BatchNorm2d(2), nn::Linear(2, 2)));
    named = register_module("named", nn::ModuleDict());
    named->insert("norm", nn::BatchNorm3d(4).ptr());
  }
  nn::BatchNorm1d own = nullptr;
  nn::ModuleList list = nullptr;
  nn::ModuleDict named = nullptr;
};
EBB_MODULE(Mixed);

}  // namespace

TEST_CASE("convert_sync_batchnorm preserves results and tensors") {
  manual_seed(2);
  nn::Sequential net(nn::Linear(4, 3), nn::BatchNorm1d(nn::BatchNormOptions(3).eps(0.1).bias(false)),
                     nn::Sequential(nn::BatchNorm1d(3), nn::ReLU()));
  const Variable x = rand({5, 4}), before = net(x).detach();
  const auto state = net->state_dict(), parameters = net->named_parameters();
  const nn::Sequential converted = nn::SyncBatchNorm::convert_sync_batchnorm(net);
  CHECK(converted.ptr() == net.ptr());
  REQUIRE(net[1]->as<nn::SyncBatchNorm>());
  REQUIRE(net[2]->children()[0]->as<nn::SyncBatchNorm>());
  CHECK(net->children()[1]->as<nn::SyncBatchNorm>()->path() == "1");
  CHECK(net[1]->as<nn::SyncBatchNorm>()->options.eps() == 0.1);
  CHECK(net->state_dict().keys() == state.keys());
  for (const auto& item : net->state_dict()) CHECK(item->is_alias_of(state[item.key()]));
  for (const auto& item : net->named_parameters()) CHECK(item->is_same(parameters[item.key()]));
  CHECK(equal(net(x), before));
  net->eval();
  CHECK_FALSE(equal(net(x), before));
  CHECK_FALSE(net[1]->is_training());
  const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone());
  CHECK(equal(copy->forward(x), net(x)));
}

TEST_CASE("convert_sync_batchnorm replaces modules in containers and not class members") {
  Mixed net;
  net->eval();
  nn::SyncBatchNorm::convert_sync_batchnorm(net);
  CHECK(net->children()[0] == net->own.ptr());
  REQUIRE(net->list[0]->as<nn::SyncBatchNorm>());
  CHECK(net->list->children()[0] == net->list[0]);
  CHECK_FALSE(net->list[0]->is_training());
  CHECK(net->list[1]->as<nn::Linear>());
  CHECK(net->named["norm"]->as<nn::SyncBatchNorm>());
}

TEST_CASE("convert_sync_batchnorm of a single BatchNorm returns a SyncBatchNorm") {
  nn::BatchNorm2d norm(3);
  const nn::SyncBatchNorm sync = nn::SyncBatchNorm::convert_sync_batchnorm(norm);
  CHECK(sync->weight.is_same(norm->weight));
  CHECK(sync->running_var.is_same(norm->running_var));
  CHECK(sync->named_parameters()["bias"].is_same(norm->bias));
  const std::shared_ptr<nn::Module> linear = nn::Linear(2, 2).ptr();
  CHECK(nn::SyncBatchNorm::convert_sync_batchnorm(linear) == linear);
  CHECK_THROWS_WITH(nn::SyncBatchNorm::convert_sync_batchnorm(std::shared_ptr<nn::Module>()),
                    Contains("the module is null"));
}
