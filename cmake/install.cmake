# The library for other programs, from the same objects as the program: libdeberta.so, and libdeberta_serve.so, which is all of it with the server.
# A program links one of the two. Also what `cmake --install` puts where.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# deberta_installed_library(TARGET NAME EXPORT_NAME OTHERS): libNAME.so, deberta::EXPORT_NAME to other projects, of all rooms but those whose part
# matches OTHERS. It exports what include/deberta marks, and hides what it is made of: Boost and fmt are its own.
function(deberta_installed_library target name export_name others)
  deberta_read_rooms("[0-9]+ +(${others}) " other_rooms)
  list(TRANSFORM other_rooms PREPEND deberta_)
  list(REMOVE_ITEM rooms ${other_rooms})
  list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${target} SHARED ${rooms})
  add_library(deberta::${export_name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} EXPORT_NAME ${export_name} VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}  # before 1.0 each minor version may change the interface
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map
    INTERFACE_DEBERTA_LIBRARY ${export_name} COMPATIBLE_INTERFACE_STRING DEBERTA_LIBRARY)  # a target that links both is refused
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE deberta_flags ${third_party})
  target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
  if(NOT DEBERTA_SANITIZE)  # sanitizers leave their symbols for the program to resolve
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
deberta_installed_library(deberta_shared deberta deberta "program|server")
deberta_installed_library(deberta_serve_shared deberta_serve serve "program")

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
install(TARGETS deberta)
install(TARGETS deberta_shared deberta_serve_shared EXPORT deberta-config)
install(DIRECTORY include/deberta TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
install(DIRECTORY docs/ TYPE DOC FILES_MATCHING PATTERN "*.md")
install(FILES docs/deberta.1 TYPE MAN RENAME man1/deberta.1)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES deploy/nginx.conf deploy/Caddyfile deploy/Containerfile deploy/alerts.yml DESTINATION ${CMAKE_INSTALL_DOCDIR}/deploy)
install(FILES deploy/deberta.service DESTINATION lib/systemd/system)  # not started: it wants a model and keys first
if(NOT CMAKE_CROSSCOMPILING)  # the program writes them itself
  set(completions ${PROJECT_BINARY_DIR}/completions)
  file(MAKE_DIRECTORY ${completions})
  add_custom_command(TARGET deberta POST_BUILD VERBATIM
    COMMAND sh -c "$<TARGET_FILE:deberta> completion bash >${completions}/deberta"
    COMMAND sh -c "$<TARGET_FILE:deberta> completion fish >${completions}/deberta.fish")
  install(FILES ${completions}/deberta DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completions}/deberta.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
file(GLOB built_in CONFIGURE_DEPENDS models/*/config.json models/*/gliner_config.json)
foreach(config ${built_in})
  get_filename_component(model ${config} DIRECTORY)
  install(DIRECTORY ${model} DESTINATION ${CMAKE_INSTALL_DATADIR}/deberta/models)
endforeach()
install(FILES models/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/deberta/models)
# Debian reads the terms of a package in `copyright`: of the program, and of the models.
file(READ LICENSE program_terms)
file(READ models/LICENSE model_terms)
file(WRITE ${PROJECT_BINARY_DIR}/copyright "${program_terms}\n\n${model_terms}")
install(FILES ${PROJECT_BINARY_DIR}/copyright TYPE DOC)
file(GLOB licences LICENSE* LICENCE* COPYING*)
deberta_sbom(${PROJECT_BINARY_DIR}/deberta.cdx.json application deberta pkg:generic/deberta)
install(FILES ${PROJECT_BINARY_DIR}/deberta.cdx.json TYPE DOC)
install(FILES README.md CHANGELOG.md SECURITY.md ${licences} TYPE DOC)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/deberta)
install(EXPORT deberta-config NAMESPACE deberta:: DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/deberta-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/deberta-config-version.cmake DESTINATION ${package})

# `cpack -G DEB` and `cpack -G TGZ` in the build's folder: a Debian package, and an archive that runs from any folder; where the trainer is built
# another of each, deberta-train (`-D CPACK_COMPONENTS_ALL=program`: without it).
set(CPACK_PACKAGE_CONTACT "the project's contributors")  # Debian's Maintainer field
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs DeBERTa models on the CPU: a program and a library")
set(CPACK_PACKAGE_FILE_NAME deberta-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_COMPONENTS_ALL program)
if(DEBERTA_TRAIN)
  list(APPEND CPACK_COMPONENTS_ALL trainer)
endif()
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_PROGRAM_FILE_NAME ${CPACK_PACKAGE_FILE_NAME})
set(CPACK_ARCHIVE_TRAINER_FILE_NAME deberta-train-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_form.cmake)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME deberta)
set(CPACK_DEBIAN_PROGRAM_FILE_NAME ${CPACK_PACKAGE_FILE_NAME}.deb)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Labels, entailment, entities, answers, masked words and vectors; a server and a C++ library.")
set(CPACK_DEBIAN_TRAINER_PACKAGE_NAME deberta-train)
set(CPACK_DEBIAN_TRAINER_FILE_NAME ${CPACK_ARCHIVE_TRAINER_FILE_NAME}.deb)
set(CPACK_COMPONENT_TRAINER_DESCRIPTION "The verbs pretrain, finetune, ablate, replay and report of deberta, with LibTorch.")
# The same version, which brings the libraries that both need; those of the trainer alone are its own.
set(CPACK_DEBIAN_TRAINER_PACKAGE_DEPENDS "deberta (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TRAINER_PACKAGE_SHLIBDEPS OFF)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # the libraries that the program needs, with their versions
endif()
include(CPack)
