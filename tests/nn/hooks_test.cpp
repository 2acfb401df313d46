// Hooks of modules: when they run, their arguments, and what they can change.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <atomic>
#include <thread>

using namespace ebb;
using support::Contains;

namespace {

using Names = std::vector<std::string>;

nn::Linear doubling() {
  nn::Linear linear(nn::LinearOptions(2, 2).bias(false));
  NoGradGuard no_grad;
  linear->weight.copy_(eye(2) * 2);
  return linear;
}

// Tensors in lists, optionals and tuples, and arguments that are not tensors.
struct ManyImpl : nn::Module {
  std::tuple<Variable, std::vector<Variable>> forward(const std::vector<Variable>& xs, int factor,
                                                      const optional<Variable>& shift) {
    Variable sum = xs[0];
    for (std::size_t i = 1; i < xs.size(); ++i) sum = sum + xs[i];
    if (shift) sum = sum + *shift;
    return {sum * factor, xs};
  }
};
EBB_MODULE(Many);

struct SilentImpl : nn::Module {
  void forward(const Variable& x) { last = x; }
  Variable last;
};
EBB_MODULE(Silent);

}  // namespace

TEST_CASE("forward hooks get inputs and outputs and can replace them") {
  nn::Linear linear = doubling();
  Names order;
  auto first = linear->register_forward_pre_hook([&](nn::Module&, const variable_list& in) {
    order.push_back("pre");
    return in[0] + 1;
  });
  auto second = linear->register_forward_hook(
      [&](nn::Module& m, const variable_list& in, const variable_list& out) -> variable_list {
        order.push_back("post");
        CHECK(&m == linear.get());
        CHECK(equal(in[0], ones({2}) * 2));
        return {out[0] * 10};
      });
  auto third = linear->register_forward_pre_hook(
      [&](nn::Module&, const variable_list& in) {
        order.push_back("first");
        CHECK(equal(in[0], ones({2})));
      },
      /*prepend=*/true);
  CHECK(equal(linear(ones({2})), ones({2}) * 40));
  CHECK(order == Names{"first", "pre", "post"});
  CHECK(equal(linear->forward(ones({2})), ones({2}) * 2));  // forward() itself runs no hooks
  first.remove();
  first.remove();
  second.remove();
  CHECK(equal(linear(ones({2})), ones({2}) * 2));
  CHECK(order.size() == 4);
  third.remove();
  CHECK(equal(linear(ones({2})), ones({2}) * 2));
  CHECK(order.size() == 4);
}

TEST_CASE("hooks run in Sequential and AnyModule") {
  int calls = 0;
  const auto count = [&](nn::Module&, const variable_list&, const variable_list&) { ++calls; };
  nn::Linear linear = doubling();
  linear->register_forward_hook(count);
  nn::Sequential net(linear, nn::ReLU());
  net(ones({2}));
  CHECK(calls == 1);
  nn::AnyModule any(linear);
  any.forward(ones({2}));
  CHECK(calls == 2);
  net->register_forward_hook(
      [](nn::Module&, const variable_list&, const variable_list& out) { return out[0] + 5; });
  CHECK(equal(net(ones({2})), ones({2}) * 7));
  CHECK(equal(nn::AnyModule(net).forward(ones({2})), ones({2}) * 7));
}

TEST_CASE("hooks get tensors in lists, optionals and tuples") {
  Many many;
  many->register_forward_pre_hook([](nn::Module&, const variable_list& in) {
    CHECK(in.size() == 3);
    return variable_list{in[0], in[1] * 10, in[2] * 100};
  });
  many->register_forward_hook([](nn::Module&, const variable_list& in, const variable_list& out) {
    CHECK(in.size() == 3);
    CHECK(out.size() == 3);
    return variable_list{out[0] + 1, out[1], out[2]};
  });
  const Variable one = ones({1});
  const std::vector<Variable> xs{one, one};
  const auto [sum, list] = many(xs, 2, optional<Variable>(one));
  CHECK(sum.item<float>() == 223);
  CHECK(list[1].item<float>() == 10);
  CHECK(xs[1].item<float>() == 1);
  Silent silent;
  silent->register_forward_pre_hook([](nn::Module&, const variable_list& in) { return in[0] * 3; });
  silent(one);
  CHECK(silent->last.item<float>() == 3);
}

TEST_CASE("a hook that returns a wrong number of tensors throws") {
  nn::Linear linear = doubling();
  auto handle =
      linear->register_forward_pre_hook([](nn::Module&, const variable_list&) { return variable_list(2); });
  CHECK_THROWS_WITH(linear(ones({2})),
                    Contains("a forward pre-hook") && Contains("returned 2 tensors in place of 1"));
  handle.remove();
  linear->register_forward_hook(
      [](nn::Module&, const variable_list&, const variable_list&) { return variable_list(); });
  CHECK_THROWS_WITH(linear(ones({2})), Contains("a forward hook"));
}

TEST_CASE("backward hooks get gradients and can replace them") {
  nn::Linear linear = doubling();
  Names order;
  linear->register_full_backward_pre_hook([&](nn::Module&, const variable_list& out) {
    order.push_back("pre");
    CHECK(equal(out[0], ones({2})));
    return out[0] * 3;
  });
  linear->register_full_backward_hook([&](nn::Module& m, const variable_list& in, const variable_list& out) {
    order.push_back("post");
    CHECK(&m == linear.get());
    CHECK(equal(out[0], ones({2}) * 3));
    CHECK(equal(in[0], ones({2}) * 6));
    return in[0] + 1;
  });
  const Variable x = ones({2}).requires_grad_();
  linear(x).sum().backward();
  CHECK(order == Names{"pre", "post"});
  CHECK(equal(x.grad(), ones({2}) * 7));
  CHECK(equal(linear->weight.grad(), ones({2, 2}) * 3));
  {
    NoGradGuard no_grad;
    linear(x);
  }
  CHECK(order.size() == 2);
}

TEST_CASE("backward hooks run even if no input requires grad") {
  nn::Linear linear = doubling();
  int calls = 0;
  linear->register_full_backward_hook([&](nn::Module&, const variable_list& in, const variable_list& out) {
    ++calls;
    CHECK(in.size() == 1);
    CHECK_FALSE(in[0].defined());
    CHECK(equal(out[0], ones({2})));
  });
  linear(ones({2})).sum().backward();
  CHECK(calls == 1);
  linear->register_full_backward_hook(
      [&](nn::Module&, const variable_list&, const variable_list&) { return variable_list(1); });
  const Variable y = linear(ones({2})).sum();
  CHECK_THROWS_WITH(y.backward(), Contains("no input requires grad"));
}

TEST_CASE("backward hooks do not extend the lifetime of tensors") {
  std::weak_ptr<nn::LinearImpl> module;
  Variable y;
  {
    nn::Linear linear = doubling();
    linear->register_full_backward_hook([](nn::Module&, const variable_list&, const variable_list&) {});
    module = linear.ptr();
    y = linear(ones({2}).requires_grad_());
  }
  CHECK(module.expired());
  y.sum().backward();
}

TEST_CASE("state_dict hooks can change the returned state") {
  nn::Sequential net(nn::Linear(1, 1), nn::ReLU());
  Names order;
  net->ptr(0)->register_state_dict_pre_hook(
      [&](const nn::Module&, const std::string& prefix) { order.push_back("pre " + prefix); });
  net->register_state_dict_post_hook(
      [&](const nn::Module&, nn::Module::StateDict& state, const std::string&) {
        order.push_back("outer");
        state.erase("0.bias");
      });
  auto inner = net->ptr(0)->register_state_dict_post_hook(
      [&](const nn::Module&, nn::Module::StateDict& state, const std::string& prefix) {
        order.push_back("inner");
        state.insert(prefix + "extra", ones({1}));
      });
  CHECK(net->state_dict().keys() == Names{"0.weight", "0.extra"});
  CHECK(order == Names{"pre 0.", "inner", "outer"});
  inner.remove();
  CHECK(net->state_dict().keys() == Names{"0.weight"});
}

TEST_CASE("load_state_dict hooks can change the state and remove missing keys") {
  nn::Sequential net(nn::Linear(1, 1));
  nn::Module::StateDict state;
  state.insert("0.kernel", full({1, 1}, 7.0));
  CHECK_THROWS_WITH(net->load_state_dict(state), Contains("0.kernel"));
  net->ptr(0)->register_load_state_dict_pre_hook(
      [](nn::Module&, nn::Module::StateDict& s, const std::string& prefix) {
        s.insert(prefix + "weight", s[prefix + "kernel"]);
        s.erase(prefix + "kernel");
      });
  CHECK_THROWS_WITH(net->load_state_dict(state), Contains("0.bias"));
  Names missing;
  auto handle = net->register_load_state_dict_post_hook([&](nn::Module&, nn::IncompatibleKeys& keys) {
    missing = keys.missing_keys;
    keys.missing_keys.clear();
  });
  CHECK(net->load_state_dict(state).missing_keys.empty());
  CHECK(missing == Names{"0.bias"});
  CHECK(net->at<nn::LinearImpl>(0).weight.item<float>() == 7);
  CHECK(state.keys() == Names{"0.kernel"});
  handle.remove();
  net->register_load_state_dict_post_hook([](nn::Module&, nn::IncompatibleKeys&) {});
  CHECK_THROWS_WITH(net->load_state_dict(state), Contains("Missing") && Contains("0.bias"));
}

TEST_CASE("a clone has separate hooks") {
  nn::Linear linear = doubling();
  auto handle = linear->register_forward_hook(
      [](nn::Module&, const variable_list&, const variable_list& out) { return out[0] + 1; });
  nn::Linear copy(std::dynamic_pointer_cast<nn::LinearImpl>(linear->clone()));
  handle.remove();
  CHECK(equal(linear(ones({2})), ones({2}) * 2));
  CHECK(equal(copy(ones({2})), ones({2}) * 3));
  nn::Sequential net(linear);
  linear->eval();
  net->register_forward_hook(
      [](nn::Module&, const variable_list&, const variable_list& out) { return out[0] * 2; });
  nn::Sequential other(std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone()));
  CHECK(equal(other(ones({2})), ones({2}) * 4));
  CHECK(other->is_training());
  CHECK_FALSE(other->ptr(0)->is_training());
}

TEST_CASE("several threads can call one module with hooks") {
  nn::Linear linear = doubling();
  std::atomic<int> calls{0};
  linear->register_forward_hook(
      [&](nn::Module&, const variable_list&, const variable_list&) -> optional<variable_list> {
        ++calls;
        return nullopt;
      });
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      const NoGradGuard no_grad;
      for (int j = 0; j < 20; ++j) linear(ones({1, 2}));
    });
  for (std::thread& each : threads) each.join();
  CHECK(calls == 60);
}
