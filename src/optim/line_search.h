// The line search of L-BFGS with the strong Wolfe conditions.
#pragma once

#include <ebb/autograd/variable.h>

#include <functional>

namespace ebb::optim {

/// The loss and gradient at position t of the line, and the directional derivative (`slope`) along the line.
struct LinePoint {
  double t = 0, loss = 0;
  Variable grad;
  double slope = 0;
};

/// Returns a point where the strong Wolfe conditions hold (Nocedal & Wright 2006, algorithms 3.5 and 3.6):
/// loss <= start.loss + c1 t start.slope, and |slope| <= c2 |start.slope|. `start` is the point at t = 0, and
/// `evaluate` returns the point at t. `first` is the first t, and `reach` is the direction's largest absolute
/// value.
LinePoint strong_wolfe(const std::function<LinePoint(double)>& evaluate, const LinePoint& start, double first,
                       double reach);

}  // namespace ebb::optim
