#pragma once
// Certificates made for a test, and a server on loopback that shows them. It answers every request with 200 and `{}`.

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::test {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};

struct identity {
  std::shared_ptr<X509> certificate;
  std::shared_ptr<EVP_PKEY> key;
};

/// Signed by `issuer`, or by itself. `names`: `IP:127.0.0.1` or `DNS:host`. Valid from `from_s` to `to_s` seconds from now.
inline identity make_identity(const std::string& common_name, const identity* issuer, const std::string& names, long from_s = -3'600,
                              long to_s = 3'600) {
  static std::atomic<long> serial{1};
  identity out;
  out.key = {EVP_EC_gen("P-256"), EVP_PKEY_free};
  out.certificate = {X509_new(), X509_free};
  auto* x = out.certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
  X509_gmtime_adj(X509_getm_notBefore(x), from_s);
  X509_gmtime_adj(X509_getm_notAfter(x), to_s);
  X509_set_pubkey(x, out.key.get());
  auto* subject = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  auto* by = issuer != nullptr ? issuer->certificate.get() : x;
  X509_set_issuer_name(x, X509_get_subject_name(by));
  X509V3_CTX context;
  X509V3_set_ctx(&context, by, x, nullptr, nullptr, 0);
  const auto extend = [&](int id, const std::string& value) {
    std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>> extension{X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str())};
    if (!extension || X509_add_ext(x, extension.get(), -1) != 1) throw std::runtime_error("the extension " + value + " cannot be made");
  };
  if (issuer == nullptr) extend(NID_basic_constraints, "critical,CA:TRUE");
  if (!names.empty()) extend(NID_subject_alt_name, names);
  if (X509_sign(x, (issuer != nullptr ? issuer->key : out.key).get(), EVP_sha256()) == 0) throw std::runtime_error("no signature");
  return out;
}

/// A folder of PEM files that goes away with its object.
class pem_folder {
 public:
  pem_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-tls-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for certificates");
    path_ = pattern;
  }
  ~pem_folder() { std::filesystem::remove_all(path_); }
  pem_folder(const pem_folder&) = delete;
  pem_folder& operator=(const pem_folder&) = delete;

  std::string certificate(const std::string& name, const identity& what) {
    return write(name, [&](FILE* f) { return PEM_write_X509(f, what.certificate.get()); });
  }
  std::string key(const std::string& name, const identity& what) {
    return write(name, [&](FILE* f) { return PEM_write_PrivateKey(f, what.key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  }

 private:
  template <class Write>
  std::string write(const std::string& name, Write how) {
    const auto path = path_ + "/" + name;
    const std::unique_ptr<FILE, freed_by<std::fclose>> file{std::fopen(path.c_str(), "w")};
    if (!file || how(file.get()) != 1) throw std::runtime_error("cannot write " + path);
    return path;
  }
  std::string path_;
};

class https_test_server {
 public:
  /// With `clients` only those whose certificate it has signed are let in. `newest` limits the version of TLS.
  explicit https_test_server(const identity& own, const identity* clients = nullptr, int newest = 0)
      : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
    SSL_CTX_use_certificate(context_.get(), own.certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), own.key.get());
    if (newest != 0) SSL_CTX_set_max_proto_version(context_.get(), newest);
    if (clients != nullptr) {
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), clients->certificate.get());
    }
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("the test server cannot listen");
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~https_test_server() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock{guard_};
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (auto& t : threads_) t.join();
    ::close(listener_);
  }
  https_test_server(const https_test_server&) = delete;
  https_test_server& operator=(const https_test_server&) = delete;

  int port() const { return port_; }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  /// From now on each connection gets this once, and is closed: with a close_notify, or as if somebody had cut it.
  void answer_and_close(std::string bytes, bool close_notify) {
    const std::lock_guard lock{guard_};
    last_words_ = std::move(bytes);
    close_notify_ = close_notify;
  }
  int requests() const { return requests_; }
  int connections() const { return connections_; }

 private:
  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      ++connections_;
      const std::lock_guard lock{guard_};
      open_.push_back(fd);
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  }

  void serve(int fd) {
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipes, nullptr);
    {
      const std::unique_ptr<SSL, freed_by<SSL_free>> tls{SSL_new(context_.get())};
      SSL_set_fd(tls.get(), fd);
      if (SSL_accept(tls.get()) == 1) {
        while (answer_one(tls.get())) {
        }
      }
    }
    const std::lock_guard lock{guard_};
    open_.erase(std::find(open_.begin(), open_.end(), fd));
    ::close(fd);
  }

  struct one_answer {
    std::string bytes;
    bool last = false;
    bool close_notify = false;
  };
  one_answer next_answer() {
    const std::lock_guard lock{guard_};
    if (!last_words_.empty()) return {last_words_, true, close_notify_};
    return {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", false, false};
  }

  bool answer_one(SSL* tls) {
    std::string got;
    char chunk[4'096];
    std::size_t end = 0;
    const auto more = [&] {
      const int n = SSL_read(tls, chunk, sizeof chunk);
      if (n > 0) got.append(chunk, static_cast<std::size_t>(n));
      return n > 0;
    };
    while ((end = got.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return false;
    }
    const auto at = got.find("Content-Length: ");
    const auto length = at < end ? std::stoul(got.substr(at + 16)) : 0UL;
    while (got.size() < end + 4 + length) {
      if (!more()) return false;
    }
    ++requests_;
    const auto [answer, last, close_notify] = next_answer();
    const auto written = SSL_write(tls, answer.data(), static_cast<int>(answer.size())) > 0;
    if (last && close_notify) SSL_shutdown(tls);
    return written && !last;
  }

  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> requests_{0}, connections_{0};
  std::mutex guard_;
  std::string last_words_;
  bool close_notify_ = false;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace fairlead::test
