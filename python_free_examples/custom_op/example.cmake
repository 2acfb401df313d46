# custom_op: the op (with its CUDA kernel if nvcc is installed), the program, and the op's test.

add_library(example_snake STATIC custom_op/snake.cpp)
ebb_own_target(example_snake)
target_link_libraries(example_snake PUBLIC ebb::ebb)
if(EBB_CUDA_BACKEND STREQUAL "ON")
  target_sources(example_snake PRIVATE custom_op/snake_cuda.cu)
  set_target_properties(example_snake PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
  target_compile_definitions(example_snake PUBLIC SNAKE_HAS_CUDA)
  target_link_libraries(example_snake PUBLIC CUDA::cudart)
endif()

ebb_add_example(custom_op custom_op/main.cpp)
target_link_libraries(custom_op PRIVATE example_snake)
if(EBB_BUILD_TESTS)
  ebb_add_catch_test(custom_op SOURCES custom_op/gradcheck.cpp)
  target_link_libraries(test_custom_op PRIVATE example_snake)
endif()
