# The extension deberta._deberta (python/src), with the library and the program inside: the command `deberta` runs it too. The package stands ready in build/PRESET/python, its Python files as links;
# python/pyproject.toml makes the wheel of it. Split mode: nanobind's own code is the package nanobind-backend, and one build serves every Python from 3.10.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "DEBERTA_PYTHON: expected nanobind in ${Python_EXECUTABLE}, got none; ./run wheel and ./test python/src install it")
endif()
find_package(nanobind 3.1 CONFIG REQUIRED)

file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.cpp)
nanobind_add_module(deberta_python STABLE_ABI BACKEND_MODULE nanobind_backend STABLE_ABI_VERSION 3.10 NOMINSIZE PROTECT_STACK NOSTRIP NB_SUPPRESS_WARNINGS
                    ${python_sources})
set_target_properties(deberta_python PROPERTIES OUTPUT_NAME _deberta LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/deberta)
target_include_directories(deberta_python PRIVATE ${PROJECT_SOURCE_DIR} src include)
target_link_libraries(deberta_python PRIVATE deberta_engine_half)
target_link_options(deberta_python PRIVATE -Wl,--exclude-libs,ALL)

file(GLOB_RECURSE python_files RELATIVE ${PROJECT_SOURCE_DIR}/python CONFIGURE_DEPENDS python/deberta/*.py python/deberta/*.pyi python/deberta/py.typed)
foreach(name ${python_files})
  get_filename_component(folder ${PROJECT_BINARY_DIR}/python/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/${name} ${PROJECT_BINARY_DIR}/python/${name} SYMBOLIC)
endforeach()

if(NOT SKBUILD)
  return()
endif()
if(NOT SKBUILD_PROJECT_VERSION STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "python/pyproject.toml: expected version ${PROJECT_VERSION}, got ${SKBUILD_PROJECT_VERSION}")
endif()
# The wheel: runs wherever glibc 2.34 is, whatever C++ runtime is there. auditwheel brings the libraries of compression. Without what nothing calls it is
# smaller, and names no function of a newer glibc, as std::random_device does.
target_link_options(deberta_python PRIVATE -static-libstdc++ -Wl,--gc-sections -Wl,-s)
install(TARGETS deberta_python LIBRARY DESTINATION deberta COMPONENT python)
set(sbom ${PROJECT_BINARY_DIR}/wheel/deberta.cdx.json)
deberta_component(nanobind nanobind ${nanobind_VERSION} BSD-3-Clause)
deberta_sbom(${sbom} library deberta-cpp pkg:pypi/deberta-cpp "${nanobind}")
install(FILES ${sbom} DESTINATION ${SKBUILD_METADATA_DIR}/sboms COMPONENT python)
