#pragma once
// The files of certificates and keys.

#include <string>
#include <vector>

#include "app/certificates/certificates.hpp"

namespace fairlead::app {

/// ca.pem and ca-key.pem in the folder.
std::string authority_certificate_path(const std::string& folder);
std::string authority_key_path(const std::string& folder);
/// `n1-key.pem` for `n1.pem`.
std::string key_path_of(const std::string& certificate_path);

/// Errors: not_found, disk, and invalid_argument for a file that is too large.
result<named_pem> read_pem_file(const std::string& path);
/// Errors: those of read_pem_file; not_found says that the folder has no authority.
result<authority> read_authority(const std::string& folder);

struct file_to_write {
  std::string path;
  std::string text;
  bool secret = false;  // readable for its owner only
};

enum class existing_files {
  refuse,
  replace,
  renew,  // as replace, with the owner and the rights that they have; a symbolic link stays, and its target is replaced
};

/// Writes all files to temporary names, and then gives each its own: a file is there whole or not at all, also after a power cut. A folder that
/// is missing is created if its parent is there. Errors: conflict for a file that is there already, disk; nothing is left then.
status write_together(std::vector<file_to_write> files, existing_files existing);

}  // namespace fairlead::app
