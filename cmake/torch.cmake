# LibTorch for the rooms of train that need it: the pinned wheel, found in .venv (tools/private_python.py --only train installs it) or
# in -DDEBERTA_TORCH=DIR, linked without Python. find_package(Torch) is not used: it stops without a CUDA toolkit and
# links libraries that need CUDA.
file(GLOB wheel ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
set(DEBERTA_TORCH "${wheel}" CACHE PATH "the folder torch of the wheel")
if(NOT EXISTS "${DEBERTA_TORCH}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "LibTorch: expected lib/libtorch_cpu.so in \"${DEBERTA_TORCH}\"; "
    "run tools/private_python.py --only train, or name the folder torch of a wheel of torch 2.11.0 with -DDEBERTA_TORCH=DIR")
endif()
file(STRINGS ${DEBERTA_TORCH}/include/torch/headeronly/version.h version REGEX "define TORCH_VERSION_(MAJOR|MINOR) ")
string(REGEX REPLACE "[^0-9;]" "" version "${version}")
if(NOT version STREQUAL "2;11")
  message(FATAL_ERROR "LibTorch: expected version 2.11, got ${version} in ${DEBERTA_TORCH}; other versions are not tested")
endif()

foreach(name c10 torch_cpu)
  add_library(torch::${name} SHARED IMPORTED)
  set_target_properties(torch::${name} PROPERTIES IMPORTED_LOCATION ${DEBERTA_TORCH}/lib/lib${name}.so)
endforeach()
add_library(torch::gomp SHARED IMPORTED)  # torch's own: a process holds one
set_target_properties(torch::gomp PROPERTIES IMPORTED_LOCATION ${DEBERTA_TORCH}/lib/libgomp.so.1)
add_library(deberta_torch INTERFACE)
target_include_directories(deberta_torch SYSTEM INTERFACE ${DEBERTA_TORCH}/include ${DEBERTA_TORCH}/include/torch/csrc/api/include)
# One header per operator. TORCH_ASSERT_ONLY_METHOD_OPERATORS, which forbids the rest, does not compile with custom_function.h.
target_compile_definitions(deberta_torch INTERFACE AT_PER_OPERATOR_HEADERS)
target_compile_options(deberta_torch INTERFACE -ffile-prefix-map=${DEBERTA_TORCH}=torch)  # their checks name their files
target_link_libraries(deberta_torch INTERFACE torch::torch_cpu torch::c10 torch::gomp)
set(DEBERTA_CUDA_LIBRARIES ${DEBERTA_TORCH}/../nvidia/cu13/lib)  # torch_cpu asks for two of them
target_link_options(deberta_torch INTERFACE -Wl,--disable-new-dtags)
list(APPEND CMAKE_BUILD_RPATH ${DEBERTA_TORCH}/lib ${DEBERTA_CUDA_LIBRARIES})

set(DEBERTA_TORCH_PRECOMPILED <ATen/TensorOperators.h> <ATen/core/Tensor.h> <torch/csrc/autograd/custom_function.h> <functional> <memory> <string> <vector>)

# deberta_torch_rooms(): the rooms of train that may include torch headers. None of them includes fmt: torch brings a newer one.
function(deberta_torch_rooms)
  deberta_read_rooms("[0-9]+ +torch " names)
  foreach(name ${names})
    string(REPLACE "/" "_" target deberta_${name})
    deberta_objects(${target} ${name})
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PUBLIC deberta_torch)
    deberta_precompiled(${target} deberta_train_ops ${DEBERTA_TORCH_PRECOMPILED})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  add_library(deberta_torch_half STATIC ${objects})
  target_link_libraries(deberta_torch_half PUBLIC deberta_train_half deberta_torch)
endfunction()

# deberta_install_trainer(): the component `trainer`, the program with its own LibTorch in a folder that nobody else looks into. It needs the
# component `program`, whose verbs start it.
function(deberta_install_trainer)
  set_target_properties(deberta-train PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/deberta")
  install(TARGETS deberta-train COMPONENT trainer)
  install(FILES ${DEBERTA_TORCH}/lib/libtorch_cpu.so ${DEBERTA_TORCH}/lib/libc10.so ${DEBERTA_TORCH}/lib/libgomp.so.1
    ${DEBERTA_CUDA_LIBRARIES}/libcupti.so.13 ${DEBERTA_CUDA_LIBRARIES}/libcudart.so.13 DESTINATION lib/deberta COMPONENT trainer)
  set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/deberta-train)
  file(WRITE ${PROJECT_BINARY_DIR}/copyright-train "The program has the terms of ${CMAKE_INSTALL_DATAROOTDIR}/doc/deberta/copyright. The libraries in "
    "lib/deberta are those of the wheels torch, nvidia-cuda-cupti and nvidia-cuda-runtime of PyPI; their terms are beside this file.\n")
  install(FILES ${PROJECT_BINARY_DIR}/copyright-train DESTINATION ${documents} COMPONENT trainer RENAME copyright)
  deberta_wheel_component(torch torch BSD-3-Clause)
  deberta_wheel_component(cupti nvidia-cuda-cupti "NVIDIA Proprietary Software")
  deberta_wheel_component(runtime nvidia-cuda-runtime "NVIDIA Proprietary Software")
  deberta_sbom(${PROJECT_BINARY_DIR}/deberta-train.cdx.json application deberta-train pkg:generic/deberta-train "${torch}" "${cupti}" "${runtime}")
  install(FILES ${PROJECT_BINARY_DIR}/deberta-train.cdx.json DESTINATION ${documents} COMPONENT trainer)
  foreach(wheel torch nvidia_cuda_cupti nvidia_cuda_runtime)
    file(GLOB terms ${DEBERTA_TORCH}/../${wheel}-*.dist-info/licenses)
    install(DIRECTORY ${terms}/ DESTINATION ${documents}/${wheel} COMPONENT trainer)
  endforeach()
endfunction()
