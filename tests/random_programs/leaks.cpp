// As in PyTorch, a gradient with a graph holds its leaf, and a tensor that is saved and then written to holds
// itself: programs leave such cycles behind, of which LeakSanitizer is not to speak.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
  return "leak:programs::";
}
