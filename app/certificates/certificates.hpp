#pragma once
// An authority, the certificates that it issues, and what a certificate says. Everything is PEM text; the present moment is given.
// Keys that are made here are ECDSA P-256, signatures have SHA-256.

#include <cstdint>
#include <string>
#include <vector>

#include "app/certificates/names.hpp"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

/// The content of a file, and its path for sentences.
struct named_pem {
  std::string path;
  std::string text;
};

/// A certificate, with those of its authority behind it if there are any, and its key.
struct certificate_and_key {
  std::string certificate;
  std::string key;
};

/// The files of an authority.
struct authority {
  named_pem certificate;
  named_pem key;
};

struct certificate_uses {
  bool server = true;
  bool client = true;
};

struct certificate_order {
  std::vector<certificate_name> names;
  certificate_uses uses;
  std::int64_t days = 0;
};

constexpr std::int64_t default_authority_days = 3650;
constexpr std::int64_t default_certificate_days = 365;
constexpr std::int64_t most_days = 36'500;
/// How far clocks of other machines may be behind.
constexpr duration valid_before_now = std::chrono::minutes{5};

/// `2027-11-28T12:00:00Z`: certificates have no fractions of a second.
std::string second_text(moment at);

/// Errors: invalid_argument for a name that is empty, too long or not printable, and for days outside of 1 to most_days.
result<certificate_and_key> make_authority(const std::string& name, std::int64_t days, moment now);

/// A certificate with a key of its own. Errors: invalid_argument, of the order or of a file; wrong_state for an authority that is not valid now.
result<certificate_and_key> issue_certificate(const certificate_order& order, const authority& by, moment now);

/// A certificate for the names, the uses and the key of the first one in `before`, which may have expired. `key`: null for a new key.
/// Of the result, `key` is empty unless it is new.
result<certificate_and_key> renew_certificate(const named_pem& before, const named_pem* key, std::int64_t days, const authority& by,
                                              moment now);

struct certificate_facts {
  std::string subject;  // as RFC 2253 writes it: `CN=n1.example.org`; may be empty
  std::vector<std::string> names;
  std::string issuer;
  moment not_before;
  moment not_after;
  std::string serial;  // in hex, without colons
  bool is_authority = false;
  std::vector<std::string> key_uses;  // `digital_signature`, `certificate_sign`, …
  std::vector<std::string> uses;      // `server`, `client`, or the object identifier of another; empty: any
  std::string fingerprint;            // SHA-256, in hex with colons
};

/// All certificates of a file, in order. Errors: invalid_argument for a file without any, and for a damaged one.
result<std::vector<certificate_facts>> read_certificates(const named_pem& file);

/// Whether the key is that of the first certificate. Errors: invalid_argument.
status check_key_belongs(const named_pem& certificate, const named_pem& key);

/// Whether the first certificate of the file is valid now, by the authority. Errors: invalid_argument.
status check_chain(const named_pem& file, const named_pem& authority, moment now);

}  // namespace fairlead::app
