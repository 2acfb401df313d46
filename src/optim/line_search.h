// The line search of L-BFGS.
#pragma once

#include <ebb/autograd/variable.h>

#include <functional>

namespace ebb::optim {

/// Loss and gradient at a place of the line, and the slope along it.
struct LinePoint {
  double t = 0, loss = 0;
  Variable grad;
  double slope = 0;
};

/// A place where the strong Wolfe conditions hold (Nocedal & Wright 2006, algorithms 3.5 and 3.6): the loss
/// is lower by c1 times what the slope promises, and the slope flatter by c2. `start` is at 0, `evaluate`
/// gives the point of a length, of which `first` is tried first; `reach` is the direction's largest number.
LinePoint strong_wolfe(const std::function<LinePoint(double)>& evaluate, const LinePoint& start, double first,
                       double reach);

}  // namespace ebb::optim
