// Loading of states: missing keys, advice in errors, and assign.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;
using support::Contains;

namespace {

using Names = std::vector<std::string>;
using State = nn::Module::StateDict;

nn::Sequential small_net() { return nn::Sequential(nn::Linear(2, 3), nn::BatchNorm1d(3), nn::Linear(3, 3)); }

State without(const State& state, const std::string& name) {
  State out;
  for (const auto& item : state)
    if (item.key() != name) out.insert(item.key(), item.value());
  return out;
}

State renamed(const State& state, const std::string& from, const std::string& to) {
  State out;
  for (const auto& item : state) out.insert(item.key() == from ? to : item.key(), item.value());
  return out;
}

std::string message_of(nn::Module& module, const State& state, bool strict = true) {
  try {
    module.load_state_dict(state, strict);
  } catch (const Error& e) {
    return e.what();
  }
  return "(no error)";
}

// Modules with the names of a residual network.
struct Block : nn::Module {
  Block() {
    for (const char* name : {"conv1", "conv2", "conv3"})
      register_module(name, nn::Conv2d(nn::Conv2dOptions(2, 2, 1).bias(false)));
    for (const char* name : {"bn1", "bn2", "bn3"}) register_module(name, nn::BatchNorm2d(2));
  }
};
struct Residual : nn::Module {
  Residual() {
    for (const char* name : {"layer1", "layer2"}) {
      nn::ModuleList blocks;
      for (int i = 0; i < 3; ++i) blocks->push_back(std::make_shared<Block>());
      register_module(name, blocks);
    }
    register_module("fc", nn::Linear(2, 2));
  }
};

}  // namespace

TEST_CASE("a module loads its own state") {
  auto net = small_net();
  const Variable weight = net->named_parameters()["0.weight"].detach().clone();
  const nn::IncompatibleKeys keys = net->load_state_dict(net->state_dict());
  CHECK((keys.missing_keys.empty() && keys.unexpected_keys.empty()));
  net->load_state_dict(net->state_dict(), /*strict=*/true, /*assign=*/true);
  CHECK(equal(net->named_parameters()["0.weight"], weight));
  // The same memory in another layout.
  State state = net->state_dict();
  const Variable square = state["2.weight"].clone();
  state["2.weight"] = state["2.weight"].t();
  net->load_state_dict(state);
  CHECK(equal(net->named_parameters()["2.weight"], square.t()));
}

TEST_CASE("BatchNorm loads a state without num_batches_tracked") {
  auto net = small_net();
  net->forward(ones({4, 2}));
  const State state = without(small_net()->state_dict(), "1.num_batches_tracked");
  REQUIRE(state.size() == net->state_dict().size() - 1);
  CHECK(net->load_state_dict(state).missing_keys.empty());
  CHECK(net->named_buffers()["1.num_batches_tracked"].item<int>() == 1);
  CHECK(equal(net->named_buffers()["1.running_mean"], state["1.running_mean"]));
  CHECK_THAT(message_of(*net, without(state, "1.running_mean")),
             Contains("\"1.running_mean\"") && !Contains("num_batches_tracked"));
  nn::InstanceNorm2d instance(nn::InstanceNorm2dOptions(2).track_running_stats(true));
  instance->load_state_dict(without(instance->state_dict(), "num_batches_tracked"));
  // A user's own buffer of that name is treated as any other.
  nn::Module own("Own");
  own.register_buffer("num_batches_tracked", zeros({}));
  CHECK_THAT(message_of(own, State()), Contains("Missing"));
}

TEST_CASE("load_state_dict with strict=false returns the missing and unexpected keys") {
  auto net = small_net();
  State state = renamed(net->state_dict(), "0.bias", "0.bios");
  state["0.weight"] = ones({3, 2});
  const nn::IncompatibleKeys keys = net->load_state_dict(state, /*strict=*/false);
  CHECK(keys.missing_keys == Names{"0.bias"});
  CHECK(keys.unexpected_keys == Names{"0.bios"});
  CHECK(net->named_parameters()["0.weight"].sum().item<float>() == 6);
}

TEST_CASE("the advice in errors of load_state_dict fits the problem") {
  auto net = small_net();
  State state = net->state_dict();
  CHECK_THAT(message_of(*net, without(state, "0.bias")),
             Contains("strict=false") && !Contains("shapes differ"));
  state["0.bias"] = ones({7});
  for (const bool strict : {true, false})
    CHECK_THAT(message_of(*net, state, strict), Contains("[7]") && Contains("[3]") &&
                                                    Contains("shapes differ") &&
                                                    !Contains("or pass strict=false"));
}

TEST_CASE("load_state_dict with assign=true uses the given tensors") {
  nn::Linear net(2, 2);
  State state;
  state.insert("weight", ones({2, 2}, kDouble));
  state.insert("bias", ones({2}, kDouble));
  net->load_state_dict(state, true, /*assign=*/true);
  CHECK(net->weight.dtype() == kDouble);
  CHECK(net->weight.data_ptr() == state["weight"].data_ptr());
  CHECK(net->weight.requires_grad());
  CHECK_FALSE(state["weight"].requires_grad());
  state["weight"] = ones({2, 2}, kLong);
  state["bias"] = zeros({2}, kDouble);
  CHECK_THROWS_WITH(net->load_state_dict(state, true, true),
                    Contains("\"weight\"") && Contains("requires grad"));
  CHECK(net->bias[0].item<double>() == 1);
  net->load_state_dict(state);
  CHECK(net->weight.dtype() == kDouble);
  CHECK(net->bias[0].item<double>() == 0);
}

TEST_CASE("an error for a misspelled name suggests the right one") {
  Residual net;
  const State state = net.state_dict();
  const auto lines = [&](const State& given, const std::string& start) {
    const std::string message = message_of(net, given);
    const auto at = message.find("\n    \"" + start + "\"");
    REQUIRE(at != std::string::npos);
    return message.substr(at + 5, message.find('\n', at + 1) - at - 5);
  };
  const std::string right = "layer1.0.conv1.weight";
  for (const std::string wrong :
       {"layer1.0.conv1.wieght", "layer1.0.conv1.weigth", "layer1.0.convl.weight", "layer1.0.conv1.wght",
        "module.layer1.0.conv1.weight", "layer1.0.conv_1.weight"}) {
    const State given = renamed(state, right, wrong);
    CHECK(lines(given, right) == "\"" + right + "\" (nearest: \"" + wrong + "\")");
    CHECK(lines(given, wrong) == "\"" + wrong + "\" (nearest: \"" + right + "\")");
  }
  // An additional misspelled name beside the right ones.
  State more = state;
  more.insert("layer1.0.conv1.wieght", ones({1}));
  CHECK(lines(more, "layer1.0.conv1.wieght") == "\"layer1.0.conv1.wieght\" (nearest: \"" + right + "\")");
  State two =
      renamed(renamed(state, right, "layer1.0.conv1.wieght"), "layer2.1.bn3.bias", "layer2.1.bn3.bais");
  CHECK(lines(two, "layer2.1.bn3.bias") == "\"layer2.1.bn3.bias\" (nearest: \"layer2.1.bn3.bais\")");
  CHECK(lines(two, right) == "\"" + right + "\" (nearest: \"layer1.0.conv1.wieght\")");

  // Loading by name from a file, where every name is a candidate.
  const safetensors::File file({{"layer1.0.conv1.wieght", ones({1})},
                                {"layer1.0.conv2.weight", ones({1})},
                                {"layer1.0.conv1.weigh", ones({1})},
                                {"a.weight", ones({1})},
                                {"b.bias", ones({1})}},
                               {});
  CHECK_THROWS_WITH(file.at(right),
                    Contains("(nearest: \"layer1.0.conv1.wieght\", \"layer1.0.conv1.weigh\")"));
  const safetensors::File order({{"layer1.0.conv1.weixxt", ones({1})}, {"layer1.0.conv1.weixht", ones({1})}},
                                {});
  CHECK_THROWS_WITH(order.at(right),
                    Contains("(nearest: \"layer1.0.conv1.weixht\")"));  // the worse one is first in the file
  CHECK_THROWS_WITH(file.at("a.bias"), Contains("(nearest: \"b.bias\")"));
  CHECK_THROWS_WITH(file.at("quite.different.and.far.away"), !Contains("nearest"));
}

TEST_CASE("load_state_dict of a state with very many entries runs in linear time") {
  constexpr int kEntries = 50'000;
  nn::Module net("Net");
  State state;
  const Variable x = zeros({1});
  for (int i = 0; i < kEntries; ++i) {
    net.register_buffer("b" + std::to_string(i), x);
    state.insert("c" + std::to_string(i), x);
  }
  const nn::IncompatibleKeys keys = net.load_state_dict(state, /*strict=*/false);
  CHECK(keys.missing_keys.size() == kEntries);
  CHECK(keys.unexpected_keys.size() == kEntries);
  CHECK_THAT(message_of(net, state), Contains("(nearest: \"c0\")"));
}
