// Features: tensors that share memory, and callers that write to tensors between calls.
#include "features.h"

namespace twins {

std::vector<Feature> memory_features() {
  std::vector<Feature> all;
  const auto add = [&](const char* name, std::function<Instance()> make) {
    all.push_back({name, std::move(make)});
  };
  const auto pure = [&](const char* name, std::vector<Tensor> (*run)(const Tensor&)) {
    add(name, [=] {
      Instance i;
      i.run = run;
      return i;
    });
  };
  pure("results that are parts of one tensor", [](const Tensor& x) {
    const Tensor y = x * 2 + 1;
    return std::vector<Tensor>{y * 0.5,        y,       y.narrow(0, 1, 2),  y.t(),
                               y.select(1, 2), y[1][3], y.slice(1, 1, 8, 3)};
  });
  pure("a part of a tensor as the only result that holds it", [](const Tensor& x) {
    return std::vector<Tensor>{x - 1, (x * 3).softmax(1).narrow(0, 2, 1), (x + x).cumsum(0).select(1, 5)};
  });
  pure("an argument and its parts as results",
       [](const Tensor& x) { return std::vector<Tensor>{x, x.narrow(0, 1, 2), x.t(), x.select(1, 6), x}; });
  pure("an argument that is written after a part of it was taken", [](const Tensor& x) {
    const Tensor row = x[1], kept = x * 1;
    x.mul_(0.5);
    row.add_(1);
    x.select(1, 2).sub_(x.select(1, 3));
    return std::vector<Tensor>{x + row, kept, row};
  });
  pure("an undefined result",
       [](const Tensor& x) { return std::vector<Tensor>{x.neg(), Tensor(), x.sum()}; });
  pure("memory that is shared by a detached tensor and written through it", [](const Tensor& x) {
    const Tensor y = x * 1.5, alias = y.detach(), flat = y.reshape({-1});
    const Tensor before = y + flat[3];
    alias.add_(1);
    flat.narrow(0, 2, 5).zero_();
    return std::vector<Tensor>{y, before, alias};
  });
  pure("constants that are written to, and returned as they are", [](const Tensor& x) {
    const Tensor written = tensor({1.F, 2.F, 3.F}), zero = zeros({4}), same = tensor({5.F, 6.F});
    written.add_(x[0].narrow(0, 0, 3));
    zero.narrow(0, 1, 2).add_(1);
    return std::vector<Tensor>{x + written[0], written, zero, same, ones({2}), same.narrow(0, 1, 1)};
  });
  pure("kernels that make, gather and scatter", [](const Tensor& x) {
    const auto [values, places] = sort(x, 1);
    const Tensor sums = zeros({3, kColumns}).index_add_(0, tensor({0, 2, 0}), x.narrow(0, 0, 3));
    const Tensor joined = cat({x.narrow(0, 0, 2), sums}, 0), most = std::get<1>(max(x, 1));
    return std::vector<Tensor>{values.clone(), places, joined, most, x.cumsum(1).masked_fill(x > 0, 2.0)};
  });
  add("writes of no element, and of elements to themselves, which versions count", [] {
    Instance i;
    const Tensor none = zeros({0, 3}), same = numbers({4});
    i.run = [none, same](const Tensor& x) {
      none.copy_(zeros({0, 3}));
      same.copy_(same);
      none.add_(1);
      return std::vector<Tensor>{x * 2};
    };
    i.kept = {none, same};
    return i;
  });
  add("a captured tensor that is returned, and parts of it", [] {
    Instance i;
    const Tensor w = numbers({5, kColumns});
    i.run = [=](const Tensor& x) {
      return std::vector<Tensor>{x + w[0], w, w.narrow(0, 2, 2), w.t().select(0, 3)};
    };
    i.kept = {w};
    return i;
  });
  add("captured tensors that the function writes to", [] {
    Instance i;
    const Tensor count = zeros({1}), mean = zeros({kColumns}), table = numbers({5, kColumns});
    i.run = [=](const Tensor& x) {
      count.add_(1);
      mean.mul_(0.9).add_(x.mean(0), 0.1);
      const Tensor old = table[2] * 1;
      table.select(1, 1).mul_(0.5);
      table.narrow(0, 2, 2).copy_(x.narrow(0, 0, 2));
      return std::vector<Tensor>{(x - mean) / count, old, table[3] + table[1]};
    };
    i.kept = {count, mean, table};
    return i;
  });
  add("a captured tensor that is seen through two views", [] {
    Instance i;
    const Tensor whole = numbers({2, kColumns, kColumns}), first = whole[0], turned = whole[1].t();
    i.run = [=](const Tensor& x) {
      first.mul_(0.5).add_(turned);
      turned.copy_(turned * 0.5 + 0.25);
      return std::vector<Tensor>{x + first[1] + turned.select(1, 2), first.sum(0), whole.mean(0)};
    };
    i.kept = {whole};
    return i;
  });
  add("captured tensors that the caller writes to between calls", [] {
    Instance i;
    const Tensor w = numbers({4, kColumns}), part = w.narrow(0, 1, 2);
    i.run = [=](const Tensor& x) { return std::vector<Tensor>{x * w[0] + part[1], w * 2, part.sum()}; };
    i.between = [=](int call) {
      w.add_(call * 0.01);
      w.select(1, call % 8).fill_(call);
      part.mul_(0.9);
    };
    i.kept = {w};
    return i;
  });
  return all;
}

std::vector<Feature> change_features() {
  std::vector<Feature> all;
  // The caller changes the captured tensor of each of these functions at kChange.
  const auto change = [&](const char* name, void (*how)(Tensor&, std::vector<Tensor>& held)) {
    all.push_back({name,
                   [=] {
                     Instance i;
                     const auto w = std::make_shared<Tensor>(numbers({kColumns, kColumns}, 0.4));
                     const auto held = std::make_shared<std::vector<Tensor>>();
                     i.run = [=](const Tensor& x) {
                       return std::vector<Tensor>{x + w->sum(0).sum(), *w * 2, w->select(0, 1) + 1};
                     };
                     i.between = [=](int call) {
                       if (call == kChange) how(*w, *held);
                     };
                     return i;
                   },
                   true});
  };
  using Held = std::vector<Tensor>&;
  change("a captured handle that is given another tensor", [](Tensor& w, Held) { w = numbers({4, 3}); });
  change("a captured tensor whose data are replaced while others hold the old", [](Tensor& w, Held held) {
    held.push_back(w.detach());
    w.set_data(numbers({5, 4}));
  });
  change("a captured tensor that grows", [](Tensor& w, Held held) {
    held.push_back(w.detach());
    w.resize_({9, kColumns}).fill_(2);
  });
  change("a captured tensor that shrinks where it is", [](Tensor& w, Held) { w.resize_({3, 5}); });
  change("a captured tensor that is transposed where it is", [](Tensor& w, Held) { w.t_(); });
  change("a captured tensor that gains a dimension where it is", [](Tensor& w, Held) { w.unsqueeze_(1); });
  change("a captured tensor that is set to show part of its memory",
         [](Tensor& w, Held) { w.set_(w.detach().narrow(0, 2, 3)); });
  change("a captured tensor that is set to memory of another while others hold its own",
         [](Tensor& w, Held held) {
           held.push_back(w.detach());
           w.set_(numbers({3, 4}));
         });
  change("a captured tensor that is strided anew where it is",
         [](Tensor& w, Held) { w.as_strided_({4, 4}, {1, 8}, 3); });
  return all;
}

const std::vector<Feature>& features() {
  static const std::vector<Feature> all = [] {
    std::vector<Feature> list;
    for (auto* const table : {draw_features, memory_features, change_features, chain_features,
                              product_features, gradient_features, training_features})
      for (Feature& each : table()) list.push_back(std::move(each));
    return list;
  }();
  return all;
}

}  // namespace twins
