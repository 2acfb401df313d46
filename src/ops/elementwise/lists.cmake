# The lists of formulas: the header in formulas/ whose end has the list, and the list's name. Each list
# becomes one file of kernels for each device.
set(EBB_LISTS
  activations ActivationOps
  arithmetic ArithmeticOps
  binary_math BinaryMathOps
  compare CompareOps
  division DivisionOps
  exponential ExponentialOps
  extremes ExtremeOps
  logic LogicOps
  parts PartsOps
  piecewise PiecewiseOps
  predicate PredicateOps
  sign_and_rounding SignAndRoundingOps
  special SpecialOps
  special_functions SpecialFunctionOps
  ternary TernaryOps
  trigonometric TrigonometricOps)
