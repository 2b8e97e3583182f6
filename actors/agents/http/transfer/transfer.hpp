#pragma once
// One request in progress: a libcurl easy handle with all data that its callbacks write to. Only for the loop's thread.

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/agents/http/transfer/loop.hpp"
#include "actors/agents/http/transfer/sockets.hpp"
#include "actors/agents/http/transfer/tls.hpp"

namespace fairlead::agents {

struct curl_easy_closer {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct curl_list_closer {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using curl_easy_handle = std::unique_ptr<CURL, curl_easy_closer>;

/// State shared by the transfers of one loop.
struct http_common {
  std::uint32_t resolving = 0;  // transfers in progress with neither a socket nor a connection to use again
  http_sockets sockets;
  tls_ends ends_of_tls;
};

class http_transfer {
 public:
  /// A handle with all options that are the same for every transfer under these limits; null: libcurl refuses.
  static curl_easy_handle new_handle(const http_limits& limits);

  /// Sets up `easy`, new or from an ended transfer, for the job. The transfer counts as resolving until it has a connection or ends.
  http_transfer(std::uint64_t ticket, std::unique_ptr<http_job> job, curl_easy_handle easy, std::uint64_t max_response_bytes,
                http_common& common);
  ~http_transfer() { resolved(); }
  http_transfer(const http_transfer&) = delete;
  http_transfer& operator=(const http_transfer&) = delete;

  /// False: libcurl refused an option, and the transfer must not be run.
  bool ready() const { return ready_; }
  std::uint64_t ticket() const { return ticket_; }
  const http_job& job() const { return *job_; }
  CURL* easy() const { return easy_.get(); }

  /// True: the connection to be used again held unexpected bytes, or was closed. Nothing was sent, and the connection is gone: the job can
  /// begin anew.
  bool met_stale_connection() const { return stale_; }
  /// Whether the lease was over when libcurl ended the transfer with `code`.
  bool expired(CURLcode code) const;
  /// The answer by `code` and the progress of the exchange. Takes the body.
  http_answer answer(CURLcode code);

  /// After the handle was taken off the multi handle: give up the parts that are used again.
  curl_easy_handle release_handle() { return std::move(easy_); }
  std::unique_ptr<http_job> release_job() { return std::move(job_); }

 private:
  bool set_up();
  bool set_body();
  bool set_headers();
  void resolved();
  bool past_deadline() const;
  bool connection_is_stale(const http_ends& ends);
  http_answer unsent(CURLcode code, http_answer out) const;
  http_answer unanswered(CURLcode code, http_answer out) const;
  std::string describe(CURLcode code) const;
  std::size_t refuse(http_answer::damage how, std::string problem);
  std::string why_not_framed() const;
  bool goes_on_to_the_end() const;

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static int on_sending(void* self, char*, char*, int, int);
  static int on_new_socket(void* self, curl_socket_t, curlsocktype);

  std::uint64_t ticket_;
  std::unique_ptr<http_job> job_;
  curl_easy_handle easy_;
  std::unique_ptr<curl_slist, curl_list_closer> header_list_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  std::uint64_t max_response_bytes_;
  http_common& common_;
  bool resolving_ = true;    // counted in `resolving`
  std::vector<int> opened_;  // sockets
  std::size_t header_bytes_ = 0;
  bool headers_complete_ = false;  // of the final response; an interim one (1xx) does not count
  bool ready_ = false;
  bool stale_ = false;
  std::string problem_;                       // why the headers of the answer were refused
  tls_ends::connection to_end_of_ = nullptr;  // the answer is over when this connection announces its end
  http_answer answer_;
};

}  // namespace fairlead::agents
