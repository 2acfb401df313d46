# Flags of elementwise (cmake/EbbFamily.cmake).
# Results must not depend on the loop that an element meets: no a * b + c is fused in one loop and not in another.
ebb_family(LOOPS cpu_binary_math EXACT ALL FUSED cpu_foreach
  WIDE cpu_activations cpu_arithmetic cpu_binary_math cpu_compare cpu_division cpu_exponential cpu_extremes cpu_piecewise cpu_run
    cpu_special_functions cpu_ternary cpu_trigonometric)
