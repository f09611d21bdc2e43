# What `cmake --install` puts where: the tool, and the CMake package `wic` for programs that wait through it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(wic_install)
  # wic-prof finds these from where it lies itself, so they keep their places whatever the prefix's library folder is.
  install(TARGETS wic-prof DESTINATION bin COMPONENT tool)
  install(TARGETS wicprof_nccl DESTINATION lib COMPONENT tool)
  if(TARGET wicprof_inject)
    install(TARGETS wicprof_inject wicprof_nvrtc DESTINATION lib COMPONENT tool)
  endif()
  if(TARGET wicprof_mpi)
    install(TARGETS wicprof_mpi DESTINATION lib COMPONENT tool)
  endif()
  install(TARGETS hot_flag DESTINATION libexec/wic-prof COMPONENT tool)  # for wic-prof demo
  if(TARGET wic-prof-gui)
    install(TARGETS wic-prof-gui DESTINATION bin COMPONENT window OPTIONAL)
  endif()

  # For wic-prof demo --recorded; bench/record_traces.sh makes them.
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/samples/traces)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/samples/traces/ DESTINATION share/wic-prof/traces COMPONENT tool
            FILES_MATCHING PATTERN "*.wicprof.gz")
  endif()

  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/schemas/ DESTINATION share/wic-prof/schemas COMPONENT tool
          FILES_MATCHING PATTERN "*.json")
  # For run --metrics: Prometheus and Grafana.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/metrics/ DESTINATION share/wic-prof/metrics COMPONENT tool)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/kubernetes/ DESTINATION share/wic-prof/kubernetes COMPONENT tool
          USE_SOURCE_PERMISSIONS)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/wic-prof COMPONENT tool)
  # The pages that messages cite, beside the examples that they show.
  foreach(page waiting channels tiles ci)
    install(FILES ${PROJECT_SOURCE_DIR}/docs/${page}.md DESTINATION share/doc/wic-prof COMPONENT tool)
  endforeach()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/examples DESTINATION share/doc/wic-prof COMPONENT tool)
  # Man pages and completions.
  install(DIRECTORY ${PROJECT_BINARY_DIR}/manual/ DESTINATION share COMPONENT tool)

  # A folder of their own: "protocol/" is too common a name for the include folder itself. Public headers include of
  # protocol/ only what lies there as a header.
  set(headers ${CMAKE_INSTALL_INCLUDEDIR}/wic-prof)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/wic-backend/include/wic DESTINATION ${headers} COMPONENT devel
          FILES_MATCHING PATTERN "*.h")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/protocol DESTINATION ${headers} COMPONENT devel
          FILES_MATCHING PATTERN "*.h")

  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/wic)
  set_target_properties(wicprof_protocol PROPERTIES EXPORT_NAME protocol)
  install(TARGETS wic wicprof_protocol EXPORT wicTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
          INCLUDES DESTINATION ${headers})
  install(EXPORT wicTargets NAMESPACE wic:: DESTINATION ${package} COMPONENT devel)
  if(WIC_HAVE_CUDA)
    set(wic_config_cuda TRUE)
  else()
    set(wic_config_cuda FALSE)
  endif()
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/wicConfig.cmake.in ${PROJECT_BINARY_DIR}/wicConfig.cmake INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/wicConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/wicConfig.cmake ${PROJECT_BINARY_DIR}/wicConfigVersion.cmake
          DESTINATION ${package} COMPONENT devel)
endfunction()
