# Flags of random (cmake/EbbFamily.cmake).
# Random numbers are the same at all levels: fused operations are written as such.
ebb_family(LOOPS cpu_integers WIDE ALL EXACT ALL)
