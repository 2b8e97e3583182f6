#pragma once
// What the commands `fairlead certificate` share: a certificate as text and as JSON, and the functions that add them.

#include <string>

#include "app/certificates/certificates.hpp"
#include "app/cli/context.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

/// Days that are left, rounded down: 0 on the last day, negative after the end.
std::int64_t days_left(const certificate_facts& facts, moment now);

/// A line for each fact.
std::string facts_text(const certificate_facts& facts, moment now);
void write_facts(json_writer& out, const certificate_facts& facts, moment now);

/// Prints which files were written, with what the certificate says. Sets context.code. `key_path`: empty if no key was written.
void print_written(cli_context& context, const named_pem& certificate, const std::string& key_path, moment now);

void add_make_certificate_commands(CLI::App& group, cli_context& context);  // make.cpp
void add_renew_certificate_command(CLI::App& group, cli_context& context);  // renew.cpp
void add_show_certificate_command(CLI::App& group, cli_context& context);   // show.cpp

}  // namespace fairlead::app
