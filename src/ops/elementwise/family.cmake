# Compiler flags of the elementwise kernels (cmake/EbbFamily.cmake).
# A result must not depend on which loop computes an element, so no loop may contract a * b + c to one
# rounding if another does not.
ebb_family(LOOPS cpu_binary_math EXACT ALL FUSED cpu_foreach
  WIDE cpu_activations cpu_arithmetic cpu_binary_math cpu_compare cpu_division cpu_exponential cpu_extremes cpu_piecewise cpu_run
    cpu_special_functions cpu_ternary cpu_trigonometric)
