# The header of libzmq, where it is found: DFC_HAS_ZMQ says so. Everything else is built and tested without it. The library is loaded by who
# needs it (backends/zmq/library.h); only tests link it.
option(DFC_ZMQ "build for runs on several machines where libzmq is found" ON)
set(DFC_HAS_ZMQ OFF)
if(DFC_ZMQ)
  find_path(DFC_ZMQ_INCLUDE zmq.h)
  find_library(DFC_ZMQ_LIBRARY zmq)
  if(DFC_ZMQ_INCLUDE AND DFC_ZMQ_LIBRARY)
    set(DFC_HAS_ZMQ ON)
  endif()
endif()
