// An op that is looked up by its name.
#include <ATen/core/dispatch/Dispatcher.h>
