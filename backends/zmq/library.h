// backends/zmq/library.h
//
// libzmq, loaded when it is first needed: it brings twelve libraries along.
#pragma once

#include <string>

#include <zmq.h>

namespace df::net {

#define DF_ZMQ_FUNCTIONS(F)                                                                                                     \
  F(zmq_bind) F(zmq_close) F(zmq_connect) F(zmq_ctx_new) F(zmq_ctx_term) F(zmq_curve_keypair) F(zmq_errno) F(zmq_getsockopt) F(zmq_has) \
  F(zmq_msg_close) F(zmq_msg_data) F(zmq_msg_gets) F(zmq_msg_init) F(zmq_msg_init_data) F(zmq_msg_init_size) F(zmq_msg_more) F(zmq_msg_recv) \
  F(zmq_msg_send) F(zmq_msg_size) F(zmq_poll) F(zmq_send) F(zmq_setsockopt) F(zmq_socket) F(zmq_socket_monitor) F(zmq_strerror) F(zmq_z85_encode)

struct ZmqLibrary {
#define DF_ZMQ_FUNCTION(name) decltype(&::name) name = nullptr;
  DF_ZMQ_FUNCTIONS(DF_ZMQ_FUNCTION)
#undef DF_ZMQ_FUNCTION
};

// False, and why, if this machine has no libzmq.
bool LoadZmq(std::string* why);
// After LoadZmq.
const ZmqLibrary& Zmq();

}  // namespace df::net
