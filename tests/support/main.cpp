// The main() of test programs that have no main() of their own.
#include "support/catch.h"

int main(int argc, char** argv) { return support::run_tests(argc, argv); }
