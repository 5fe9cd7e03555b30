# CPack runs this between installing and packing: manual pages and changelogs are compressed, as Debian asks.
file(GLOB_RECURSE texts "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/*.1"
  "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog")
foreach(text IN LISTS texts)
  execute_process(COMMAND gzip -9nf "${text}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
