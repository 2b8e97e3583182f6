// Public headers compile as C++17 and need nothing of CAF: this file is built with -std=c++17 and without CAF's headers.
#include <fairlead/fairlead.hpp>

#include "actors/agents/backend.hpp"
#include "actors/agents/native.hpp"
#include "actors/client/client.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

#ifdef CAF_VERSION
#error "a public header includes CAF"
#endif
#if defined(MDB_VERSION_FULL) || defined(SPDLOG_VERSION) || defined(LIBCURL_VERSION)
#error "a public header includes a library that is none of its users' business"
#endif

static_assert(__cplusplus == 201703L);
