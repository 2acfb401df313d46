// The line search of L-BFGS: strong Wolfe conditions.
#include "optim/line_search.h"

#include <algorithm>
#include <cmath>

namespace ebb::optim {

namespace {

constexpr double kLower = 1e-4, kFlatter = 0.9, kLeastBracket = 1e-9;
constexpr int kMostSteps = 25;

/// Returns the minimum, clamped to the bounds, of the cubic through two points with their directional
/// derivatives.
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t),
               square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double least = a.t <= b.t ? b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                                  : a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  return std::min(std::max(least, low), high);
}

}  // namespace

LinePoint strong_wolfe(const std::function<LinePoint(double)>& evaluate, const LinePoint& start, double first,
                       double reach) {
  const auto too_high = [&](const LinePoint& p) { return p.loss > start.loss + kLower * p.t * start.slope; };
  const auto flat = [&](const LinePoint& p) { return std::abs(p.slope) <= -kFlatter * start.slope; };

  // Bracketing: lengthens the step until two steps have a solution between them.
  LinePoint before = start, now = evaluate(first), bracket[2];
  int steps = 0;
  for (; steps < kMostSteps; ++steps) {
    if (too_high(now) || (steps > 1 && now.loss >= before.loss) || (!flat(now) && now.slope >= 0)) {
      bracket[0] = before;
      bracket[1] = now;
      break;
    }
    if (flat(now)) return now;
    const double next = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
    before = now;
    now = evaluate(next);
  }
  if (steps == kMostSteps) {
    bracket[0] = start;
    bracket[1] = now;
  }

  // Zoom: shortens the bracket.
  int low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
  bool stuck = false;
  for (; steps < kMostSteps; ++steps) {
    const double least = std::min(bracket[0].t, bracket[1].t), most = std::max(bracket[0].t, bracket[1].t);
    if ((most - least) * reach < kLeastBracket) break;
    double t = cubic_minimum(bracket[0], bracket[1], least, most);
    const double margin = 0.1 * (most - least);
    const bool near_end = std::min(most - t, t - least) < margin;
    if (near_end && (stuck || t >= most || t <= least)) {
      t = std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin;
      stuck = false;
    } else {
      stuck = near_end;
    }
    now = evaluate(t);
    LinePoint &lower = bracket[low], &higher = bracket[1 - low];
    if (too_high(now) || now.loss >= lower.loss) {
      higher = now;
      low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
      continue;
    }
    const bool done = flat(now);
    if (!done && now.slope * (higher.t - lower.t) >= 0) higher = lower;
    lower = now;
    if (done) break;
  }
  return bracket[low];
}

}  // namespace ebb::optim
