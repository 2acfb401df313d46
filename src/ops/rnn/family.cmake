# Flags of rnn (cmake/EbbFamily.cmake).
ebb_family(FAST ALL WIDE ALL)
