// Features: tensors that share memory, callers that write to tensors between calls, and chains of elementwise
// calls and matrix products, which passes fuse or reorder.
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

namespace {

void add_pure(std::vector<Feature>& to, const char* name, std::vector<Tensor> (*run)(const Tensor&)) {
  to.push_back({name, [=] {
                  Instance i;
                  i.run = run;
                  return i;
                }});
}

}  // namespace

std::vector<Feature> chain_features() {
  std::vector<Feature> all;
  add_pure(all, "writes between who makes and who reads", [](const Tensor& x) {
    const Tensor y = x * 2, z = y.relu();
    y.add_(1);
    const Tensor u = z * y, last = y.narrow(0, 1, 2) * 1;
    y.narrow(0, 1, 2).mul_(3);
    y.select(1, 0).copy_(u.select(1, 1));
    return std::vector<Tensor>{y * 0.1 + u, last, z};
  });
  add_pure(all, "operands that are shifted parts of one tensor", [](const Tensor& x) {
    const std::int64_t rows = x.size(0) - 1;
    const Tensor y = x + 0.5, a = y.narrow(0, 0, rows), b = y.narrow(0, 1, rows);
    const Tensor c = a * 2 + b;
    a.copy_(c * 0.25);
    const Tensor d = a - b;
    b.add_(d);
    return std::vector<Tensor>{y, c, d};
  });
  add_pure(all, "operands that overlap by strides", [](const Tensor& x) {
    const Tensor y = x * 0.5, flat = y.reshape({-1}), wide = flat.unfold(0, 4, 1);
    const Tensor sums = wide.sum(1),
                 steps = flat.as_strided({4, 6}, {1, 2}, 3) * flat.as_strided({4, 6}, {2, 1});
    const Tensor rows = y[0].expand({y.size(0), kColumns});
    const Tensor z = y * rows + y.select(1, 1).unsqueeze(1).expand_as(y);
    y[0].add_(z[1]);
    return std::vector<Tensor>{z, sums, steps, rows * 2, y};
  });
  add_pure(all, "a tensor beside its transpose and its mirror image", [](const Tensor& x) {
    const Tensor square = x.narrow(0, 0, 5).narrow(1, 0, 5) * 1;
    const Tensor sum = square + square.t();
    square.add_(square.t() * 0.5).mul_(2);
    const Tensor y = x * 1;
    y.copy_(y.flip(0) - y);
    return std::vector<Tensor>{y, sum, square};
  });
  add_pure(all, "sums and means within chains, and what comes of them", [](const Tensor& x) {
    Tensor y = x * 2 - 1;
    const Tensor total = y.sum(), mean = y.mean();
    y.mul_(0.5).sub_(mean);
    const Tensor again = y.sum(), z = y / (y.abs().max() + 1), w = z * again + total;
    total.mul_(2).add_(1);
    return std::vector<Tensor>{w * 1e-3, total, mean, again, w.sum(), z.mean(0), y.sum(1), total + 1};
  });
  add_pure(all, "single elements as numbers, of which one is written to", [](const Tensor& x) {
    const Tensor y = x + 1, last = y[2][7], one = tensor(3.F);
    const Tensor z = y * last;
    y.mul_(2);
    const Tensor w = y * last + one;
    one.add_(1);
    last.zero_();
    return std::vector<Tensor>{w * one * 1e-2, z, y};
  });
  add_pure(all, "conversions of dtype within chains", [](const Tensor& x) {
    const Tensor wide = x.to(kDouble) * 3, whole = (x * 4).to(kInt), half = x.to(kHalf) + 1;
    const Tensor y = (wide + whole).to(kFloat) + half.to(kFloat);
    return std::vector<Tensor>{where(x > 0, y, x), wide.sum(), whole * 2, half * half, (x > 0).logical_not()};
  });
  add_pure(all, "a long chain that outlives many others", [](const Tensor& x) {
    const Tensor early = (x * 0.9).tanh();
    Tensor y = x;
    for (int i = 0; i < 12; ++i) y = (y * 0.9 + 0.1).softmax(1).tanh() + early * 0.1;
    return std::vector<Tensor>{y, early, early + y};
  });
  return all;
}

std::vector<Feature> product_features() {
  std::vector<Feature> all;
  add_pure(all, "a product that is taken up after its operand was written to", [](const Tensor& x) {
    const Tensor w = numbers({kColumns, kColumns}), a = x * 1, p = mm(a, w);
    a.mul_(0.5).add_(1);
    const Tensor h = p.relu() + a, q = mm(h, w);
    w.mul_(0.5);
    return std::vector<Tensor>{q.tanh() * 0.5, h, w, a};
  });
  all.push_back({"a product that is taken up after a captured weight was written to", [] {
                   Instance i;
                   const Tensor w = numbers({kColumns, kColumns}), b = numbers({kColumns});
                   i.run = [=](const Tensor& x) {
                     const Tensor kept = x * 1, p = addmm(b, x, w);
                     b.add_(0.5);
                     w.mul_(0.9);
                     x.mul_(0.5);
                     return std::vector<Tensor>{kept * (p > 0) + p.relu(), mm(kept, w).tanh()};
                   };
                   i.kept = {w, b};
                   return i;
                 }});
  add_pure(all, "a product whose chain takes the memory of an operand", [](const Tensor& x) {
    const Tensor w = numbers({kColumns, kColumns}, 0.5), h = mm(x, w).relu();
    const Tensor g = mm(h, w.t()) * (h > 0), k = mm(g, w) * h;
    return std::vector<Tensor>{mm(k, w).sigmoid(), k.sum()};
  });
  // Each row is an addition, with its target, its form, and the time at which the target is read.
  const auto sum = [&](const char* name, std::vector<Tensor> (*run)(const Tensor& sum, const Tensor& x)) {
    all.push_back({name, [=] {
                     Instance i;
                     const Tensor to = numbers({2 * kColumns, kColumns});
                     i.run = [=](const Tensor& x) { return run(to, x); };
                     i.kept = {to};
                     return i;
                   }});
  };
  sum("products that are added to parts of a captured tensor", [](const Tensor& to, const Tensor& x) {
    const Tensor low = to.narrow(0, 0, kColumns), high = to.narrow(0, kColumns, kColumns);
    to.mul_(0.5);
    low.add_(mm(x.t(), x) * 1e-3);
    high.add_(mm(x.t(), x.tanh()));
    low.add_(mm(x.tanh().t(), x.sigmoid()));
    return std::vector<Tensor>{x + to[0] * 1e-3, high * 1};
  });
  sum("a product that is added after others looked at the sum", [](const Tensor& to, const Tensor& x) {
    const Tensor low = to.narrow(0, 0, kColumns), p = mm(x.t(), x.tanh()), before = to * 1;
    low.add_(p);
    const Tensor q = mm(x.tanh().t(), x.tanh());
    to.mul_(0.25);
    low.add_(q);
    return std::vector<Tensor>{x * 0.5, before, low + 0};
  });
  sum("a product of the sum itself", [](const Tensor& to, const Tensor& x) {
    const Tensor low = to.narrow(0, 0, kColumns), high = to.narrow(0, kColumns, kColumns);
    to.mul_(0.3);
    low.add_(mm(low, high));
    high.add_(mm(x.narrow(0, 0, 5).t(), x.narrow(0, 0, 5)).tanh());
    low.add_(mm(high, high.t()));
    return std::vector<Tensor>{x + low[1], to * 1};
  });
  sum("products that are also results, scaled, subtracted or transposed",
      [](const Tensor& to, const Tensor& x) {
        const Tensor low = to.narrow(0, 0, kColumns), t = x.tanh();
        const Tensor p = mm(t.t(), t), q = mm(t.t(), x.sigmoid());
        to.mul_(0.5);
        low.add_(p);
        low.add_(mm(t.t(), x.sigmoid()), 0.5);
        low.sub_(mm(t.t(), t.abs()));
        low.add_(q.t());
        low.t().add_(mm(x.sigmoid().t(), t));
        return std::vector<Tensor>{x - low[2] * 1e-3, p, low * 2};
      });
  sum("a product that is added to what was set to zero", [](const Tensor& to, const Tensor& x) {
    const Tensor low = to.narrow(0, 0, kColumns), t = x.tanh();
    to.zero_();
    low.add_(mm(t.t(), x));
    const Tensor between = to * 1, p = mm(t.t(), t);
    low.zero_();
    const Tensor empty = low.sum();
    low.add_(p);
    return std::vector<Tensor>{x * 0.5 + low[3] * 1e-3, between, empty};
  });
  return all;
}

}  // namespace twins
