# Flags of loss (cmake/EbbFamily.cmake).
ebb_family(LOOPS ALL SMALL cpu_logarithmic cpu_pointwise WIDE ALL NARROW cpu_pointwise)
