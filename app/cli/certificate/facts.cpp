#include "app/cli/certificate/facts.hpp"

#include "app/cli/words.hpp"

namespace fairlead::app {

namespace {

std::string listed(const std::vector<std::string>& texts, const std::string& none) {
  std::string out;
  for (const auto& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out.empty() ? none : printable(out);
}

std::string validity_text(const certificate_facts& facts, moment now) {
  if (now < facts.not_before) return "not valid yet";
  if (now >= facts.not_after) return "expired";
  const auto left = days_left(facts, now);
  return std::to_string(left) + (left == 1 ? " day left" : " days left");
}

void write_texts(json_writer& out, const char* key, const std::vector<std::string>& texts) {
  out.key(key).begin_array();
  for (const auto& text : texts) out.string(text);
  out.end_array();
}

}  // namespace

std::int64_t days_left(const certificate_facts& facts, moment now) {
  return std::chrono::floor<std::chrono::days>(facts.not_after - now).count();
}

std::string facts_text(const certificate_facts& facts, moment now) {
  std::string out = "subject      " + (facts.subject.empty() ? "-" : printable(facts.subject)) + "\n";
  if (!facts.is_authority || !facts.names.empty()) out += "names        " + listed(facts.names, "-") + "\n";
  out += "issuer       " + (facts.issuer.empty() ? "-" : printable(facts.issuer)) + "\n";
  out += "valid from   " + second_text(facts.not_before) + "\n";
  out += "valid until  " + second_text(facts.not_after) + " (" + validity_text(facts, now) + ")\n";
  out += "for          " + (facts.is_authority ? "signing certificates" : listed(facts.uses, "any use")) + "\n";
  out += "fingerprint  " + facts.fingerprint + " (SHA-256)\n";
  out += "serial       " + facts.serial + "\n";
  return out;
}

void write_facts(json_writer& out, const certificate_facts& facts, moment now) {
  out.begin_object().key("subject").text_or_null(facts.subject);
  write_texts(out, "names", facts.names);
  out.key("issuer").text_or_null(facts.issuer);
  out.key("valid_from").moment(to_unix_ms(facts.not_before)).key("valid_until").moment(to_unix_ms(facts.not_after));
  out.key("days_left").number(days_left(facts, now));
  out.key("valid").boolean(now >= facts.not_before && now < facts.not_after);
  out.key("authority").boolean(facts.is_authority);
  write_texts(out, "uses", facts.uses);
  write_texts(out, "key_uses", facts.key_uses);
  out.key("fingerprint").string(facts.fingerprint).key("serial").string(facts.serial).end_object();
}

void print_written(cli_context& context, const named_pem& certificate, const std::string& key_path, moment now) {
  const auto read = read_certificates(certificate);
  if (!read) {
    context.code = fail(read.failure());
    return;
  }
  const auto& facts = read->front();
  if (context.json) {
    json_writer out;
    out.begin_object().key("certificate_file").string(certificate.path).key("key_file").text_or_null(key_path).key("certificate");
    write_facts(out, facts, now);
    print(context, out.end_object().text() + "\n");
    return;
  }
  print(context, certificate.path + ": valid until " + second_text(facts.not_after) + "\n");
  if (!key_path.empty()) print(context, key_path + ": the private key; keep it secret\n");
}

}  // namespace fairlead::app
