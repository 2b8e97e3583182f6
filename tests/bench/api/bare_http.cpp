// The least that a handler of libmicrohttpd can do.

#include <arpa/inet.h>
#include <microhttpd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/bench/api/api.hpp"

namespace fairlead::bench {

namespace {

MHD_Result answer_bare(void*, MHD_Connection* at, const char* target, const char*, const char*, const char*, std::size_t* size,
                       void** context) {
  static int seen = 0;
  // The first call brings the head alone, as a handler of the API sees it.
  if (*context == nullptr) {
    *context = &seen;
    return MHD_YES;
  }
  if (*size != 0) {
    *size = 0;
    return MHD_YES;
  }
  const std::string body(std::strtoul(target + 1, nullptr, 10), 'x');
  // The library takes what it copies for constant.
  auto* const response = MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
  MHD_add_response_header(response, "Content-Type", "application/json; charset=utf-8");
  MHD_add_response_header(response, "Cache-Control", "no-store");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "X-Request-Id", "01a2227f-3336-725b-bbb6-ad7234805a6d");
  MHD_add_response_header(response, "Fairlead-Version", "0.1.0");
  MHD_add_response_header(response, "ETag", "\"1-0123456789abcdef\"");
  const auto queued = MHD_queue_response(at, 200, response);
  MHD_destroy_response(response);
  return queued;
}

}  // namespace

int run_bare_http(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const auto* const daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD, 0, nullptr, nullptr, &answer_bare, nullptr,
                                              MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_END);
  if (daemon == nullptr) {
    std::fprintf(stderr, "bench: the bare handler cannot listen on port %d\n", port);
    return 1;
  }
  for (;;) pause();
}

}  // namespace fairlead::bench
