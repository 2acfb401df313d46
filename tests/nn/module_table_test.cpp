// Every public module has rows, and each row passes the checks that hold for all modules.
#include "nn/module_rows.h"
#include "support/catch.h"
#include "support/compare.h"
#include "support/files.h"

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

using namespace modules;
using support::require_close;
using support::require_same;

namespace {

using Module = std::shared_ptr<nn::Module>;

Module made(const Row& row, double shift = 0) {
  Module m = row.make();
  fill(*m, shift);
  return m;
}

// Calls the module with a fixed seed, so that random modules can be compared.
variable_list called(const Row& row, nn::Module& m, In inputs) {
  ebb::manual_seed(5);
  return row.call(m, inputs);
}
variable_list called(const Row& row, const Module& m) { return called(row, *m, row.inputs); }

variable_list copies(const variable_list& list) {
  variable_list out;
  for (const Variable& x : list) out.push_back(x.defined() ? x.detach().clone() : x);
  return out;
}

bool is_real(const Variable& x) { return x.defined() && x.is_floating_point(); }

void check_values(const Row& row) {
  for (const bool training : {true, false}) {
    if (training && row.draws) continue;
    INFO((training ? "training" : "evaluating"));
    const Module m = made(row);
    m->train(training);
    const variable_list before = copies(row.inputs);
    if (!row.formula) continue;
    const variable_list expected = row.formula(row.inputs, {*m, training});
    variable_list got = called(row, m);
    for (const Variable& b : m->buffers())
      if (got.size() < expected.size()) got.push_back(b);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO("result " << i);
      require_close(got[i], expected[i]);
    }
    require_same(row.inputs, before);
  }
}

void check_repeats(const Row& row) {
  const Module m = made(row);
  require_same(called(row, m), called(row, m));
  m->eval();
  const variable_list buffers = copies(m->buffers()), first = called(row, m);
  require_same(called(row, m), first);
  require_same(m->buffers(), buffers);
  // Modules in evaluation mode can be called by several threads.
  std::vector<variable_list> results(3);
  std::vector<std::thread> threads;
  for (variable_list& r : results)
    threads.emplace_back([&] {
      const ebb::NoGradGuard no_grad;
      r = row.call(*m, row.inputs);
    });
  for (std::thread& t : threads) t.join();
  for (const variable_list& r : results) require_same(r, first);
}

// Checks derivatives for all inputs and parameters, which functional_call substitutes.
void check_gradients(const Row& row) {
  for (const bool training : {true, false}) {
    if (!row.has_derivatives || (training && row.draws)) continue;
    const Module m = made(row);
    m->train(training);
    std::vector<std::string> names;
    variable_list leaves;
    for (const Variable& x : row.inputs)
      if (is_real(x)) leaves.push_back(x.detach().clone().requires_grad_());
    const std::size_t inputs = leaves.size();
    for (const auto& p : m->named_parameters()) {
      names.push_back(p.key());
      leaves.push_back(p.value().detach().clone().requires_grad_());
    }
    const variable_list own = copies(m->parameters());
    const auto f = [&](In x) {
      nn::Module::StateDict given;
      for (std::size_t i = 0; i < names.size(); ++i) given.insert(names[i], x[inputs + i]);
      const nn::utils::SubstituteGuard guard(*m, given);
      variable_list in, out;
      std::size_t next = 0;
      for (const Variable& v : row.inputs) in.push_back(is_real(v) ? x[next++] : v);
      for (const Variable& y : called(row, *m, in))
        if (is_real(y)) out.push_back(y);
      return out;
    };
    ebb::GradcheckOptions options;
    options.fast_mode = true;
    if (leaves.empty()) continue;
    CHECK(ebb::gradcheck(ebb::GradcheckFunction(f), leaves, options));
    require_same(m->parameters(), own);
  }
}

// Checks the gradients of the module's own parameters, and that they can be cleared.
void check_parameters(const Row& row) {
  const Module m = made(row);
  std::vector<std::string> names;
  for (const auto& p : m->named_parameters()) names.push_back(p.key());
  const std::size_t parameters = names.size();
  for (const auto& b : m->named_buffers()) names.push_back(b.key());
  if (!row.names.empty()) CHECK(names == row.names);
  CHECK(m->parameters().size() == parameters);
  for (std::size_t i = 0; i < names.size(); ++i)
    CHECK((i < parameters ? m->get_parameter(names[i]) : m->get_buffer(names[i]))
              .is_same(i < parameters ? m->parameters()[i] : m->buffers()[i - parameters]));
  if (parameters == 0 || !row.has_derivatives) return;
  ebb::optim::SGD sgd(m->parameters(), 0.1);
  for (const int how : {0, 1, 2, 3}) {
    Variable loss = ebb::zeros({}, ebb::kDouble);
    for (const Variable& y : called(row, m))
      if (is_real(y)) loss = loss + y.square().sum();
    if (!loss.requires_grad()) return;
    loss.backward();
    bool any = false;
    for (const Variable& p : m->parameters())
      any = any || (p.grad().defined() && p.grad().ne(0).any().item<bool>());
    CHECK(any);
    how < 2 ? m->zero_grad(how == 1) : sgd.zero_grad(how == 3);
    for (const Variable& p : m->parameters()) {
      CHECK((how % 2 == 0 || !p.grad().defined()));
      if (p.grad().defined()) CHECK(p.grad().eq(0).all().item<bool>());
    }
  }
  for (Variable& p : m->parameters()) p.requires_grad_(false);
  for (const Variable& y : called(row, m)) CHECK_FALSE(y.requires_grad());
}

void check_modes(const Row& row) {
  const Module m = made(row);
  CHECK(m->is_training());
  m->eval();
  for (const Module& part : m->modules()) CHECK_FALSE(part->is_training());
  m->train();
  for (const Module& part : m->modules()) CHECK(part->is_training());
}

// Checks that a clone has equal results and shares no tensors.
void check_clone(const Row& row) {
  const Module m = made(row);
  m->eval();
  const Module copy = m->clone();
  CHECK_FALSE(copy->is_training());
  const variable_list expected = called(row, m), state = copies(m->state_dict().values());
  require_same(called(row, copy), expected);
  CHECK(m->state_dict().keys() == copy->state_dict().keys());
  for (std::size_t i = 0; i < m->parameters().size(); ++i)
    CHECK(copy->parameters()[i].requires_grad() == m->parameters()[i].requires_grad());
  for (Variable& x : copy->state_dict().values()) x.add_(1);
  copy->to(ebb::kFloat);
  require_same(m->state_dict().values(), state);
  require_same(called(row, m), expected);
  std::ostringstream a, b;
  a << *m;
  b << *copy;
  CHECK(a.str() == b.str());
}

// Checks that lower precision has similar results and that the module can be converted back.
void check_conversions(const Row& row) {
  const Module m = made(row);
  m->eval();
  const variable_list expected = called(row, m);
  m->to(ebb::kFloat);
  for (const auto& x : m->state_dict()) CHECK(x.value().dtype() == ebb::kFloat);
  variable_list in;
  for (const Variable& x : row.inputs) in.push_back(is_real(x) ? x.to(ebb::kFloat) : x);
  const variable_list got = called(row, *m, in);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (row.name.starts_with("Adaptive") ? i == 0 : is_real(got[i])) CHECK(got[i].dtype() == ebb::kFloat);
    require_close(got[i], expected[i], 2e-4, 2e-4);
  }
  m->to(ebb::kCPU, ebb::kDouble);
  for (const auto& x : m->state_dict()) CHECK(x.value().dtype() == ebb::kDouble);
}

// Checks that loading the state makes another module equal: from memory, with assign, and from a file.
void check_state(const Row& row) {
  const Module m = made(row);
  called(row, m);
  m->eval();
  const variable_list expected = called(row, m);
  for (const int how : {0, 1, 2}) {
    const Module other = made(row, 0.4);
    other->eval();
    if (how < 2) {
      const nn::Module::StateDict state = m->clone()->state_dict();
      const nn::IncompatibleKeys keys = other->load_state_dict(state, true, how == 1);
      CHECK((keys.missing_keys.empty() && keys.unexpected_keys.empty()));
    } else {
      const support::Folder folder;
      ebb::save(m, folder / "module.pt");
      Module into = other;
      ebb::load(into, folder / "module.pt");
    }
    require_same(other->state_dict().values(), m->state_dict().values());
    require_same(called(row, other), expected);
  }
}

// Checks that an empty batch has empty results and gradients of 0, and does not change buffers.
void check_empty_batch(const Row& row) {
  if (row.batch < 0) return;
  for (const bool training : {true, false}) {
    INFO((training ? "training" : "evaluating"));
    const Module m = made(row);
    m->train(training);
    const std::int64_t count = row.inputs[0].size(row.batch);
    variable_list in, leaves;
    for (const Variable& x : row.inputs) {
      in.push_back(x);
      for (const int dim : {row.batch, 1 - row.batch}) {
        if (!x.defined() || x.dim() <= dim || x.size(dim) != count) continue;
        in.back() = x.narrow(dim, 0, 0).clone();
        if (is_real(x)) leaves.push_back(in.back().requires_grad_());
        break;
      }
    }
    const variable_list expected = called(row, made(row)), buffers = copies(m->buffers());
    const variable_list got = called(row, *m, in);
    REQUIRE(got.size() == expected.size());
    Variable loss = ebb::zeros({}, ebb::kDouble).requires_grad_();
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO("result " << i);
      REQUIRE(got[i].defined() == expected[i].defined());
      if (!got[i].defined()) continue;
      CHECK(got[i].dtype() == expected[i].dtype());
      REQUIRE(got[i].dim() == expected[i].dim());
      if (got[i].dim() == 0) {  // the sum or the mean of no elements
        CHECK((got[i].isnan().item<bool>() || got[i].item<double>() == 0));
      } else {
        CHECK(got[i].numel() == 0);
        for (std::int64_t d = 0; d < got[i].dim(); ++d)
          CHECK((got[i].size(d) == 0 || got[i].size(d) == expected[i].size(d)));
      }
      if (is_real(got[i])) loss = loss + got[i].sum();
    }
    if (!row.has_derivatives) continue;
    loss.backward();
    for (const Variable& x : leaves)
      if (x.grad().defined()) CHECK(x.grad().sizes() == x.sizes());
    for (const Variable& p : m->parameters())
      if (p.grad().defined()) CHECK((p.grad() == 0).logical_or(p.grad().isnan()).all().item<bool>());
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].dim() > 0) require_same({m->buffers()[i]}, {buffers[i]});
  }
}

// Checks that the memory layout of inputs does not matter.
void check_layouts(const Row& row) {
  const Module m = made(row);
  m->eval();
  const variable_list expected = called(row, m);
  for (const int how : {0, 1, 2}) {
    variable_list in;
    for (const Variable& x : row.inputs) {
      if (!x.defined() || x.dim() == 0 || (how == 2 && x.dim() != 4 && x.dim() != 5))
        in.push_back(x);
      else if (how == 0)
        in.push_back(x.transpose(0, -1).contiguous().transpose(0, -1));
      else if (how == 1)
        in.push_back(ebb::stack({x, x.logical_not().to(x.dtype())}, -1).select(-1, 0));
      else
        in.push_back(
            x.contiguous(x.dim() == 4 ? ebb::MemoryFormat::ChannelsLast : ebb::MemoryFormat::ChannelsLast3d));
    }
    const variable_list got = called(row, *m, in);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i].defined()) require_close(got[i], expected[i], 1e-12, 1e-13);
  }
}

// Checks that a module inside another one is called with its hooks and that errors contain its path.
void check_calls(const Row& row) {
  const Module m = made(row), parent = std::make_shared<nn::ModuleListImpl>(m);
  m->eval();
  const variable_list expected = called(row, m);
  int before = 0, behind = 0;
  auto first = m->register_forward_pre_hook([&](nn::Module&, const variable_list&) { ++before; });
  auto second = m->register_forward_hook([&](nn::Module& module, const variable_list&, const variable_list&) {
    CHECK(&module == m.get());
    ++behind;
  });
  require_same(called(row, m), expected);
  CHECK(before == (row.hooked ? 1 : 0));
  CHECK(behind == before);
  first.remove();
  second.remove();
  require_same(called(row, m), expected);
  CHECK(before == (row.hooked ? 1 : 0));
  if (row.sequence) {
    nn::Sequential chain(nn::Identity(), row.sequence());
    fill(*chain);
    chain->eval();
    ebb::manual_seed(5);
    require_same({chain->forward(row.inputs[0])}, {expected[0]});
  }
  if (row.name == "Identity") return;  // which accepts even an undefined tensor
  variable_list wrong = row.inputs;
  wrong[0] = {};
  CHECK_THROWS_WITH(called(row, *m, wrong), support::Contains("in module '0"));
}

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (auto* rows : {activation_rows, convolution_rows, pooling_rows, shape_rows, norm_rows, recurrent_rows,
                     attention_rows, table_rows, loss_rows})
    for (Row& row : rows()) all.push_back(std::move(row));
  return all;
}

// Registers one test case per class, before main().
const bool kAdded = [] {
  std::map<std::string, std::vector<Row>> by_class;
  for (Row& row : all_rows()) by_class[row.name.substr(0, row.name.find(' '))].push_back(row);
  for (const auto& [name, rows] : by_class)
    support::add_case("module " + name + " keeps the rules of the table", "", [rows = rows] {
      for (const Row& row : rows)
        for (const auto check :
             {check_values, check_repeats, check_gradients, check_parameters, check_modes, check_clone,
              check_conversions, check_state, check_layouts, check_calls, check_empty_batch}) {
          INFO(row.name);
          check(row);
        }
    });
  return true;
}();

// Modules without a row, and the reasons.
const std::map<std::string, std::string> kNoRows = {
    {"ModuleList", "is not called"},
    {"ModuleDict", "is not called"},
    {"ParameterList", "is not called"},
    {"ParameterDict", "is not called"},
};

}  // namespace

TEST_CASE("every public module has a row in the table of modules") {
  std::set<std::string> named;
  for (const Row& row : all_rows()) named.insert(row.name.substr(0, row.name.find(' ')));
  const std::regex declares(
      "(?:EBB_LIBRARY_MODULE\\((\\w+)\\)|using (Lazy\\w+) = ModuleHolder|class (\\w+) : public "
      "ModuleHolder)");
  std::set<std::string> declared;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() + "/include/ebb/nn/modules")) {
    const std::string text = support::read_file(file.path());
    for (std::sregex_iterator i(text.begin(), text.end(), declares), end; i != end; ++i)
      declared.insert((*i)[1].str() + (*i)[2].str() + (*i)[3].str());
  }
  CHECK(declared.size() > 130);
  for (const std::string& name : declared) {
    INFO(name);
    CHECK(named.contains(name) != kNoRows.contains(name));
  }
  for (const std::string& name : named) CHECK(declared.contains(name));
}
