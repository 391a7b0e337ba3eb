# deberta_sbom(FILE TYPE NAME PURL COMPONENT...): what a product of ours is made of, as CycloneDX: the libraries that every product has, and those named.
# It has neither times nor random numbers: a build again gives the same bytes.
file(STRINGS ${PROJECT_SOURCE_DIR}/train/requirements.txt deberta_pinned REGEX "^[a-z].*==")
find_path(ZSTD_INCLUDE zstd.h)
if(ZSTD_INCLUDE)
  file(STRINGS ${ZSTD_INCLUDE}/zstd.h zstd_version REGEX "define ZSTD_VERSION_(MAJOR|MINOR|RELEASE) ")
  string(REGEX REPLACE "[^0-9;]" "" zstd_version "${zstd_version}")
  list(JOIN zstd_version . zstd_version)
endif()

function(deberta_sbom file type name purl)
  set(more "")
  foreach(component ${ARGN})
    string(APPEND more ",\n    ${component}")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/deberta.cdx.json.in ${file} @ONLY)
endfunction()

# deberta_component(VARIABLE NAME VERSION LICENCE [PURL]): one of them; LICENCE is an SPDX name, or words.
function(deberta_component variable name version licence)
  set(purl "")
  if(ARGN)
    set(purl ", \"purl\": \"${ARGN}\"")
  endif()
  set(kind name)
  if(licence MATCHES "^[A-Za-z0-9.-]+$")
    set(kind id)
  endif()
  set(${variable}
    "{\"type\": \"library\", \"name\": \"${name}\", \"version\": \"${version}\"${purl}, \"licenses\": [{\"license\": {\"${kind}\": \"${licence}\"}}]}" PARENT_SCOPE)
endfunction()

# deberta_wheel_component(VARIABLE NAME LICENCE): one that train/requirements.txt pins.
function(deberta_wheel_component variable name licence)
  set(found ${deberta_pinned})
  list(FILTER found INCLUDE REGEX "^${name}==")
  string(REPLACE "${name}==" "" version "${found}")
  deberta_component(component ${name} ${version} ${licence} pkg:pypi/${name}@${version})
  set(${variable} ${component} PARENT_SCOPE)
endfunction()
