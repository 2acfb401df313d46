// gradcheck and gradgradcheck: compare analytic with numeric derivatives.
#include <ebb/autograd/backward.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/derivatives/gradcheck.h>

#include "core/backend.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace ebb {
namespace {

using autograd::grad;

// Copies bytes between devices. One of them may be the CPU.
void move_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes) {
  if (to_device.is_cpu() && from_device.is_cpu())
    std::memcpy(to, from, bytes);
  else
    detail::backend(kCUDA).copy(to, to_device, from, from_device, bytes, true);
}

// One element of a tensor on any device, which the host can read and write.
class Element {
 public:
  Element(double* at, Device device) : at_(at), device_(device) {}
  operator double() const {
    double value;
    move_bytes(&value, kCPU, at_, device_, sizeof(value));
    return value;
  }
  const Element& operator=(double value) const {
    move_bytes(at_, device_, &value, kCPU, sizeof(value));
    return *this;
  }

 private:
  double* at_;
  Device device_;
};

// Returns the k-th element of x in row-major order, for any strides.
Element element(const Variable& x, std::int64_t k) {
  std::int64_t offset = 0;
  for (std::int64_t d = x.dim(); d-- > 0;) {
    offset += k % x.size(d) * x.stride(d);
    k /= x.size(d);
  }
  return {x.array().address_as<double>() + offset, x.device()};
}

Variable zeros_like_of(const Variable& x) {
  Variable out(NdArray::empty(x.sizes(), x.dtype(), x.device()));
  const std::vector<char> zeros(out.nbytes());
  if (!zeros.empty()) move_bytes(out.data_ptr(), out.device(), zeros.data(), kCPU, zeros.size());
  return out;
}

struct Matrix {  // rows: elements of an input; columns: elements of an output
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;
  Matrix(std::int64_t r, std::int64_t c)
      : rows(r), columns(c), values(static_cast<std::size_t>(r * c), 0.0) {}
  double& at(std::int64_t r, std::int64_t c) { return values[static_cast<std::size_t>(r * columns + c)]; }
};

// Reproducible values of both signs with magnitudes in (0.25, 1), for projections and seeds.
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    const double u = 0.25 + 0.75 * static_cast<double>(state_ >> 40) / 16777216.0;
    return state_ & (1ull << 39) ? u : -u;
  }

 private:
  std::uint64_t state_ = 88172645463325252ull;
};

// Returns output o of a call, after a check that it has the shape and dtype of an earlier call.
Variable same_output(const char* check, const variable_list& outputs, const Variable& earlier,
                     std::size_t o) {
  EBB_CHECK(
      o < outputs.size() && outputs[o].defined() && outputs[o].dtype() == earlier.dtype() &&
          outputs[o].sizes() == earlier.sizes(),
      check, ": output ", std::uint64_t{o}, " was ", earlier, " in the first call, and is ",
      o < outputs.size() ? detail::text(outputs[o]) : std::string("missing"),
      " in a later one. The function must return the same tensors whether or not gradients are recorded.");
  return outputs[o];
}

class Check {
 public:
  Check(const GradcheckFunction& f, const variable_list& inputs, const GradcheckOptions& options)
      : f_(f), inputs_(inputs), options_(options) {}

  bool run() {
    for (const Variable& x : inputs_)
      if (x.defined() && x.requires_grad()) wanted_.push_back(x);
    EBB_CHECK(!wanted_.empty(),
              "gradcheck expects at least one input tensor to require gradient, but none of them have "
              "requires_grad=true.");
    for (const Variable& x : wanted_) {
      EBB_CHECK(x.dtype() == kDouble,
                "gradcheck: inputs that require grad must be kDouble, because numerical derivatives need its "
                "precision, got ",
                x.dtype(), ". Convert with .to(kDouble).");
      for (std::int64_t d = 0; d < x.dim(); ++d)
        EBB_CHECK(x.size(d) <= 1 || x.stride(d) != 0, "gradcheck: an input has overlapping memory (shape ",
                  x.sizes(), ", strides ", x.strides(),
                  "). Pass it contiguous and expand inside the function.");
    }
    const variable_list outputs = call();
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (!outputs[o].defined() || !is_floating(outputs[o].dtype())) continue;
      EBB_CHECK(outputs[o].dtype() == kDouble, "gradcheck: output ", std::uint64_t{o}, " has dtype ",
                outputs[o].dtype(), "; the function must compute in kDouble.");
      const bool ok = options_.fast_mode ? fast(outputs, o) : full(outputs, o);
      if (!ok) return false;
    }
    return !options_.check_undefined_grad || undefined_grads(outputs);
  }

 private:
  variable_list call() const {
    const InferenceMode record(false);
    return f_(inputs_);
  }
  // Returns output o of a call without recording; `recorded` is the output of the call with recording.
  Variable plain_output(const Variable& recorded, std::size_t o) const {
    NoGradGuard no_grad;
    return same_output("gradcheck", f_(inputs_), recorded, o);
  }

  template <class... Parts>
  bool fail(const Parts&... parts) const {
    const std::string message = detail::text(parts...);
    if (options_.message) *options_.message = message;
    if (options_.raise_exception) throw Error(message);
    return false;
  }

  variable_list backward_of(const variable_list& outputs, std::size_t o, const Variable& seed) const {
    if (!outputs[o].requires_grad()) return variable_list(wanted_.size());
    return grad({outputs[o]}, wanted_, {seed}, true, false, true);
  }

  static double value(const Variable& g, std::int64_t k) { return g.defined() ? double(element(g, k)) : 0.0; }

  // Checks that backward returns gradients of the inputs' shapes, and the same gradients in a second call.
  bool repeats(const variable_list& outputs, std::size_t o, const Variable& seed,
               const variable_list& first) const {
    const variable_list second = backward_of(outputs, o, seed);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (first[i].defined() && first[i].sizes() != wanted_[i].sizes())
        return fail("gradcheck: the gradient of input ", std::uint64_t{i}, " has the shape ",
                    first[i].sizes(), ", but the input has ", wanted_[i].sizes(), ".");
      for (std::int64_t r = 0; r < wanted_[i].numel(); ++r)
        if (std::abs(value(first[i], r) - value(second[i], r)) > options_.nondet_tol)
          return fail(
              "gradcheck: backward is not reentrant, i.e. running it twice gives different gradients: "
              "output ",
              std::uint64_t{o}, ", input ", std::uint64_t{i}, ", entry ", r, ": ", value(first[i], r),
              " and ", value(second[i], r), ".");
    }
    return true;
  }

  bool full(const variable_list& outputs, std::size_t o) {
    const std::int64_t columns = outputs[o].numel();
    std::vector<Matrix> analytic, numeric;
    for (const Variable& x : wanted_)
      analytic.emplace_back(x.numel(), columns), numeric.emplace_back(x.numel(), columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      const Variable seed =
          zeros_like_of(outputs[o]);  // a new one in each call, because the gradient may be the seed itself
      element(seed, c) = 1;
      const variable_list grads = backward_of(outputs, o, seed);
      if (!repeats(outputs, o, seed, grads)) return false;
      for (std::size_t i = 0; i < wanted_.size(); ++i)
        for (std::int64_t r = 0; r < wanted_[i].numel(); ++r) analytic[i].at(r, c) = value(grads[i], r);
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      for (std::int64_t r = 0; r < wanted_[i].numel(); ++r) {
        const std::vector<double> column = difference(wanted_[i], r, outputs[o], o);
        for (std::int64_t c = 0; c < columns; ++c) numeric[i].at(r, c) = column[static_cast<std::size_t>(c)];
      }
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      if (!same(analytic[i], numeric[i], o, i)) return false;
    return true;
  }

  // Returns d output / d x[r] for every element of the output.
  std::vector<double> difference(const Variable& x, std::int64_t r, const Variable& recorded,
                                 std::size_t o) const {
    const Element p = element(x, r);
    const double kept = p;
    const auto at = [&](double value) {
      p = value;
      try {
        return plain_output(recorded, o);
      } catch (...) {
        p = kept;
        throw;
      }
    };
    // The function may return the input itself, so the elements of its result are copied before the input
    // changes again.
    const auto read = [](const Variable& y) {
      std::vector<double> v(static_cast<std::size_t>(y.numel()));
      for (std::int64_t k = 0; k < y.numel(); ++k) v[static_cast<std::size_t>(k)] = element(y, k);
      return v;
    };
    std::vector<double> up = read(at(kept + options_.eps));
    const std::vector<double> down = read(at(kept - options_.eps));
    p = kept;
    for (std::size_t k = 0; k < up.size(); ++k) up[k] = (up[k] - down[k]) / (2 * options_.eps);
    return up;
  }

  bool close(double analytic, double numeric) const {
    if (std::isnan(analytic) || std::isnan(numeric)) return false;
    if (analytic == numeric) return true;
    return std::abs(analytic - numeric) <= options_.atol + options_.rtol * std::abs(numeric);
  }

  bool same(Matrix& analytic, Matrix& numeric, std::size_t o, std::size_t i) const {
    std::int64_t worst_r = -1, worst_c = -1, wrong = 0;
    double worst = -1;
    for (std::int64_t r = 0; r < analytic.rows; ++r)
      for (std::int64_t c = 0; c < analytic.columns; ++c) {
        if (close(analytic.at(r, c), numeric.at(r, c))) continue;
        ++wrong;
        const double off = std::abs(analytic.at(r, c) - numeric.at(r, c));
        if (worst_r < 0 || !(off <= worst)) worst = off, worst_r = r, worst_c = c;
      }
    if (wrong == 0) return true;
    std::string tables;
    if (analytic.rows * analytic.columns <= 64)
      tables = "\nnumerical:" + table(numeric) + "\nanalytical:" + table(analytic);
    return fail("Jacobian mismatch for output ", std::uint64_t{o}, " with respect to input ",
                std::uint64_t{i}, " (shape ", wanted_[i].sizes(), "): ", wrong, " of ",
                analytic.rows * analytic.columns, " entries differ; the worst is d output[", worst_c,
                "] / d input[", worst_r, "]: analytic ", analytic.at(worst_r, worst_c), ", numeric ",
                numeric.at(worst_r, worst_c), ", difference ", worst, ".", tables);
  }

  static std::string table(Matrix& m) {
    std::string out;
    for (std::int64_t r = 0; r < m.rows; ++r) {
      out += "\n  [";
      for (std::int64_t c = 0; c < m.columns; ++c) out += detail::text(c ? ", " : "", m.at(r, c));
      out += "]";
    }
    return out;
  }

  // Computes <v, J u> analytically and numerically, for one direction u (of all inputs together) and one
  // direction v of the output.
  bool fast(const variable_list& outputs, std::size_t o) {
    Numbers numbers;
    const Variable seed = zeros_like_of(outputs[o]);
    for (std::int64_t k = 0; k < seed.numel(); ++k) element(seed, k) = numbers.next();
    const variable_list grads = backward_of(outputs, o, seed);
    if (!repeats(outputs, o, seed, grads)) return false;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const Variable& x = wanted_[i];
      std::vector<double> u(static_cast<std::size_t>(x.numel())), kept(u.size());
      double analytic = 0;
      for (std::int64_t k = 0; k < x.numel(); ++k) {
        u[static_cast<std::size_t>(k)] = numbers.next();
        kept[static_cast<std::size_t>(k)] = element(x, k);
        analytic += u[static_cast<std::size_t>(k)] * value(grads[i], k);
      }
      const auto projected = [&](double step) {
        for (std::int64_t k = 0; k < x.numel(); ++k)
          element(x, k) = kept[static_cast<std::size_t>(k)] + step * u[static_cast<std::size_t>(k)];
        const Variable y = plain_output(outputs[o], o);
        double sum = 0;
        for (std::int64_t k = 0; k < seed.numel(); ++k) sum += element(seed, k) * element(y, k);
        return sum;
      };
      double numeric = 0;
      try {
        const double up = projected(options_.eps);
        numeric = (up - projected(-options_.eps)) / (2 * options_.eps);
      } catch (...) {
        restore(x, kept);
        throw;
      }
      restore(x, kept);
      if (!close(analytic, numeric))
        return fail("Jacobian mismatch in fast mode for output ", std::uint64_t{o}, " with respect to input ",
                    std::uint64_t{i}, " (shape ", x.sizes(), "): v^T J u is analytically ", analytic,
                    ", numerically ", numeric, ". Run without fast_mode to see which entry differs.");
    }
    return true;
  }

  static void restore(const Variable& x, const std::vector<double>& kept) {
    for (std::int64_t k = 0; k < x.numel(); ++k) element(x, k) = kept[static_cast<std::size_t>(k)];
  }

  // With several outputs, a backward pass from only one output must give the same gradients as a pass with
  // zeros for the other outputs.
  bool undefined_grads(const variable_list& outputs) const {
    variable_list recorded;
    for (const Variable& y : outputs)
      if (y.defined() && y.requires_grad()) recorded.push_back(y);
    if (recorded.size() < 2) return true;
    for (std::size_t o = 0; o < recorded.size(); ++o) {
      Numbers numbers;
      variable_list seeds;
      for (std::size_t k = 0; k < recorded.size(); ++k) seeds.push_back(zeros_like_of(recorded[k]));
      for (std::int64_t k = 0; k < seeds[o].numel(); ++k) element(seeds[o], k) = numbers.next();
      const variable_list alone = grad({recorded[o]}, wanted_, {seeds[o]}, true, false, true);
      const variable_list together = grad(recorded, wanted_, seeds, true, false, true);
      for (std::size_t i = 0; i < wanted_.size(); ++i)
        for (std::int64_t k = 0; k < wanted_[i].numel(); ++k)
          if (!close(value(alone[i], k), value(together[i], k)))
            return fail("gradcheck: undefined incoming gradients are not treated as zeros: output ",
                        std::uint64_t{o}, ", input ", std::uint64_t{i}, ", entry ", k, ": ",
                        value(alone[i], k), " with undefined gradients and ", value(together[i], k),
                        " with zeros.");
    }
    return true;
  }

  const GradcheckFunction& f_;
  const variable_list& inputs_;
  const GradcheckOptions& options_;
  variable_list wanted_;
};

}  // namespace

bool gradcheck(const GradcheckFunction& f, const variable_list& inputs, const GradcheckOptions& options) {
  return Check(f, inputs, options).run();
}

bool gradgradcheck(const GradcheckFunction& f, const variable_list& inputs, const variable_list& grad_outputs,
                   const GradcheckOptions& options) {
  const InferenceMode record(false);
  variable_list seeds = grad_outputs;
  std::vector<std::size_t> kept_outputs;
  const variable_list outputs = f(inputs);
  for (std::size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o].defined() && outputs[o].requires_grad()) kept_outputs.push_back(o);
  if (seeds.empty()) {
    Numbers numbers;
    for (const std::size_t o : kept_outputs) {
      Variable seed = zeros_like_of(outputs[o]);
      for (std::int64_t k = 0; k < seed.numel(); ++k) element(seed, k) = numbers.next();
      seeds.push_back(seed.requires_grad_());
    }
  }
  EBB_CHECK(seeds.size() == kept_outputs.size(), "gradgradcheck: the function has ",
            std::uint64_t{kept_outputs.size()}, " differentiable outputs, but ", std::uint64_t{seeds.size()},
            " grad_outputs were given.");
  const std::size_t count = inputs.size();
  const GradcheckFunction first = [&](const variable_list& all) {
    const InferenceMode enable(
        false);  // the numeric derivative needs a recorded gradient, even within a caller's InferenceMode
    const variable_list x(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    const variable_list v(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
    const variable_list y = f(x);
    variable_list roots, wanted;
    for (const std::size_t o : kept_outputs) roots.push_back(same_output("gradgradcheck", y, outputs[o], o));
    for (const Variable& t : x)
      if (t.defined() && t.requires_grad()) wanted.push_back(t);
    variable_list g = grad(roots, wanted, v, true, true, true);
    for (std::size_t i = 0; i < g.size(); ++i)
      if (!g[i].defined()) g[i] = zeros_like_of(wanted[i]);
    return g;
  };
  variable_list all = inputs;
  all.insert(all.end(), seeds.begin(), seeds.end());
  return gradcheck(first, all, options);
}

}  // namespace ebb
