// Compares compiled and eager calls for every row of the table of features, and for every pair of rows.
#include "features.h"

#include "support/compare.h"

#include <iterator>
#include <sstream>
#include <thread>

using namespace twins;

namespace {

// The layout of the argument: all of its memory, a part of it, or column-major.
enum class ArgumentLayout { whole, part, columns };

struct Setting {
  std::int64_t rows = 5;
  ArgumentLayout layout = ArgumentLayout::whole;
  std::vector<int> threads = {1};  // the numbers of threads of successive calls
};

// The visible effects of ten calls.
struct Trace {
  std::vector<Tensor> values;
  std::vector<std::string> shapes;
  std::int64_t early = 0, all = 0;  // replays before kChange, and at the end
  std::string reason;
};

// Describes sizes, strides, offsets and versions of tensors, and which tensors share memory.
std::string shapes_of(const std::vector<Tensor>& results, const Tensor& x, const std::vector<Tensor>& kept) {
  std::vector<Tensor> all = results;
  all.push_back(x);
  all.insert(all.end(), kept.begin(), kept.end());
  std::ostringstream text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined()) {
      text << "undefined; ";
      continue;
    }
    std::size_t first = 0;
    while (!all[first].defined() || !all[first].is_alias_of(all[i])) ++first;
    text << all[i].sizes() << all[i].strides() << all[i].storage_offset() << " as " << first;
    if (i >= results.size()) text << " version " << all[i]._version();
    text << (all[i].requires_grad() ? " requires grad; " : "; ");
  }
  return text.str();
}

Tensor argument(const Tensor& numbers, ArgumentLayout layout, int call) {
  if (layout == ArgumentLayout::whole) return numbers.clone();
  if (layout == ArgumentLayout::columns) return numbers.t().contiguous().t();
  const Tensor base = zeros({numbers.size(0) + kCalls, kColumns});
  base.narrow(0, call, numbers.size(0)).copy_(numbers);
  return base.narrow(0, call, numbers.size(0));
}

std::vector<Tensor> copies(const std::vector<Tensor>& of) {
  std::vector<Tensor> all;
  for (const Tensor& x : of) all.push_back(x.defined() ? x.detach().clone() : x);
  return all;
}

// Runs the instances as one function: each takes the first result of the previous one.
Trace trace(std::vector<Instance> instances, const Setting& setting, bool compiled) {
  auto run = [&](const Tensor& x) {
    std::vector<Tensor> all;
    Tensor y = x;
    for (const Instance& each : instances) {
      std::vector<Tensor> results = each.run(y);
      y = results.front();
      all.insert(all.end(), results.begin(), results.end());
    }
    return all;
  };
  auto step = compile(run);
  Trace seen;
  std::vector<Tensor> held;
  const auto note = [&](const std::vector<Tensor>& tensors) {
    const std::vector<Tensor> now = copies(tensors);
    seen.values.insert(seen.values.end(), now.begin(), now.end());
  };
  for (int call = 0; call < kCalls; ++call) {
    if (call == kChange) seen.early = step.report().replays;
    if (setting.threads.size() > 1)
      set_num_threads(setting.threads[static_cast<std::size_t>(call) % setting.threads.size()]);
    std::vector<Tensor> kept;
    for (const Instance& each : instances) {
      if (each.between) each.between(call);
      kept.insert(kept.end(), each.kept.begin(), each.kept.end());
    }
    const Tensor x = argument(numbers({setting.rows, kColumns}) + call * 0.125 - 0.5, setting.layout, call);
    const std::vector<Tensor> results = compiled ? step(x) : run(x);
    note(results);
    note({x});
    note(kept);
    for (const Instance& each : instances)
      if (each.more) note(each.more());
    seen.shapes.push_back(shapes_of(results, x, kept));
    held.insert(held.end(), results.begin(), results.end());
  }
  note(held);  // later calls must not overwrite results that the caller holds
  note({randn({3})});
  seen.all = step.report().replays;
  seen.reason = step.report().reason;
  return seen;
}

Trace seeded(const std::vector<const Feature*>& features, const Setting& setting, bool compiled) {
  manual_seed(17);
  std::vector<Instance> instances;
  for (const Feature* each : features) instances.push_back(each->make());
  return trace(std::move(instances), setting, compiled);
}

void require_equal(const Trace& got, const Trace& expected) {
  REQUIRE(got.values.size() == expected.values.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < got.values.size(); ++i)
    different += !support::same(got.values[i], expected.values[i]);
  CHECK(different == 0);
  CHECK(got.shapes == expected.shapes);
}

void check(const std::vector<const Feature*>& features, const Setting& setting) {
  bool changes = false;
  std::string names;
  for (const Feature* each : features) {
    changes = changes || each->changes;
    names += std::string(names.empty() ? "" : " | ") + each->name;
  }
  const Trace expected = seeded(features, setting, false), got = seeded(features, setting, true);
  INFO(names << ", " << setting.rows << " rows, layout " << static_cast<int>(setting.layout) << ", "
             << setting.threads.size() << " numbers of threads: " << got.reason);
  require_equal(got, expected);
  CHECK(got.early >= 1);
  CHECK(got.all >= (changes ? got.early + 2 : kCalls - 4));
}

// Restores the number of threads at the end of a scope.
struct KeepThreads {
  ~KeepThreads() { set_num_threads(before); }
  int before = get_num_threads();
};

}  // namespace

TEST_CASE("every feature gives eager results in replays, for every layout and number of threads") {
  const KeepThreads keep;
  for (const Feature& each : features())
    for (const std::int64_t rows : {5, 800})
      for (const ArgumentLayout layout :
           {ArgumentLayout::whole, ArgumentLayout::part, ArgumentLayout::columns})
        for (const std::vector<int>& threads : {std::vector<int>{1}, {3}, {1, 3, 2}}) {
          if (layout != ArgumentLayout::whole && threads.size() == 1) continue;
          set_num_threads(threads[0]);
          check({&each}, {rows, layout, threads});
        }
}

TEST_CASE("every pair of features in one function gives eager results in replays") {
  const KeepThreads keep;
  const std::vector<Feature>& all = features();
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < all.size(); ++b) {
      // Some pairs have many rows, which run in several blocks, on one thread or more.
      set_num_threads((a + b) % 2 ? 3 : 1);
      check({&all[a], &all[b]},
            {(a + 3 * b) % 5 ? 5 : 800, b % 2 ? ArgumentLayout::part : ArgumentLayout::whole, {1}});
    }
}
