// Batch norms that become those of all processes.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;
using support::Contains;

namespace {

// Has a batch norm as a member, and others in containers.
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

TEST_CASE("converted batch norms compute as before and keep their tensors") {
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

TEST_CASE("containers hold converted batch norms and members keep theirs") {
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

TEST_CASE("a batch norm alone gives one for all processes") {
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
