#include "emulate/kv/hashes.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "emulate/kv/loaded.h"

namespace rooflua::emulate {

namespace {

using Cbor = nlohmann::json;

/// nlohmann writes the shortest form of numbers and lengths: that is canonical for what is hashed.
Digest sha256_cbor(const Cbor& value) {
  const std::vector<std::uint8_t> bytes = Cbor::to_cbor(value);
  Digest out;
  unsigned int written = 0;
  const Crypto& own = crypto();
  const int done =
      own.EVP_Digest(bytes.data(), bytes.size(), out.data(), &written, own.EVP_sha256(), nullptr);
  if (done != 1 || written != out.size()) throw Error("emulate", "libcrypto computes no SHA-256");
  return out;
}

}  // namespace

std::uint64_t low_64(const Digest& digest) {
  std::uint64_t out = 0;
  for (std::size_t i = digest.size() - 8; i < digest.size(); ++i) out = out << 8 | digest[i];
  return out;
}

BlockNames::BlockNames(std::string_view seed, bool chains_64_bits)
    : chains_64_bits_(chains_64_bits), none_(sha256_cbor(std::string(seed))) {}

Digest BlockNames::next(const Digest& front, std::span<const std::int64_t> tokens) const {
  Cbor value = Cbor::array();
  if (chains_64_bits_)
    value.push_back(low_64(front));
  else
    value.push_back(Cbor::binary({front.begin(), front.end()}));
  Cbor list = Cbor::array();
  for (const std::int64_t token : tokens) list.push_back(token);
  value.push_back(std::move(list));
  value.push_back(nullptr);
  return sha256_cbor(value);
}

}  // namespace rooflua::emulate
