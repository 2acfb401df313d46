# The family's lists of formulas: the header in formulas/ that ends with it, and its name. Each becomes one file of kernels a device.
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
  rounding RoundingOps
  sign SignOps
  special SpecialOps
  special_functions SpecialFunctionOps
  ternary TernaryOps
  trigonometric TrigonometricOps)
