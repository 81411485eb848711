#pragma once
// libzmq and libcrypto are loaded when KV events are asked for: other runs of the program start
// without them.

#include <openssl/evp.h>
#include <zmq.h>

namespace rooflua::emulate {

/// The functions of libzmq by their own names.
struct ZeroMq {
#define ROOFLUA_OF_ZMQ(use)                                                            \
  use(zmq_bind) use(zmq_close) use(zmq_ctx_new) use(zmq_ctx_term) use(zmq_errno)       \
      use(zmq_getsockopt) use(zmq_msg_close) use(zmq_msg_data) use(zmq_msg_init)       \
          use(zmq_msg_init_data) use(zmq_msg_more) use(zmq_msg_recv) use(zmq_msg_send) \
              use(zmq_msg_size) use(zmq_send) use(zmq_setsockopt) use(zmq_socket)      \
                  use(zmq_strerror)
#define ROOFLUA_DECLARE(name) decltype(&::name) name;
  ROOFLUA_OF_ZMQ(ROOFLUA_DECLARE)
#undef ROOFLUA_DECLARE
};
/// @throws Error where the library that the program was built with is gone
const ZeroMq& zero_mq();

/// The functions of libcrypto by their own names.
struct Crypto {
  decltype(&::EVP_Digest) EVP_Digest;
  decltype(&::EVP_sha256) EVP_sha256;
};
/// @throws Error as zero_mq() does
const Crypto& crypto();

}  // namespace rooflua::emulate
