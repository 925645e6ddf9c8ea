#include "runtime/value/io_error.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace df {
namespace {

// By IoKind.
constexpr std::array<std::string_view, 16> kNames = {
    "already exists",   "does not exist",     "resource busy",           "resource exhausted", "end of file",           "illegal operation",
    "permission denied", "user error",        "invalid argument",        "inappropriate type", "unsatisfied constraints", "hardware fault",
    "unsupported operation", "resource vanished", "interrupted",         "failed"};

constexpr char kFirstKind = 'A';

// What stands before the next NUL, which goes.
std::string_view TakePart(std::string_view& text) {
  const size_t end = std::min(text.find('\0'), text.size());
  std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

std::string IoErrorParts(IoKind kind, std::string_view place, std::string_view file, std::string_view details) {
  std::string parts(1, static_cast<char>(kFirstKind + static_cast<char>(kind)));
  parts += place;
  parts += '\0';
  parts += file;
  parts += '\0';
  parts += details;
  return parts;
}

std::string IoErrorText(std::string_view parts) {
  const size_t kind = parts.empty() ? kNames.size() : static_cast<unsigned char>(parts[0]) - size_t{kFirstKind};
  parts.remove_prefix(std::min<size_t>(1, parts.size()));
  const std::string_view place = TakePart(parts), file = TakePart(parts);
  std::string text;
  for (std::string_view part : {file, place}) {
    if (part.empty()) continue;
    text += part;
    text += ": ";
  }
  text += kNames[std::min(kind, kNames.size() - 1)];
  if (!parts.empty()) {
    text += " (";
    text += parts;
    text += ')';
  }
  return text;
}

IoKind IoKindOf(int error_number) {
  switch (error_number) {
    case EEXIST: return IoKind::AlreadyExists;
    case ENOENT:
    case ENXIO:
    case ENODEV: return IoKind::NoSuchThing;
    case EBUSY:
    case ETXTBSY:
    case EDEADLK: return IoKind::ResourceBusy;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EMLINK:
    case EDQUOT:
    case EAGAIN: return IoKind::ResourceExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
    case EFBIG: return IoKind::PermissionDenied;
    case EINVAL:
    case EBADF:
    case EDOM:
    case EILSEQ:
    case ELOOP:
    case ENAMETOOLONG: return IoKind::InvalidArgument;
    case EISDIR:
    case ENOTDIR: return IoKind::InappropriateType;
    case ENOTEMPTY: return IoKind::UnsatisfiedConstraints;
    case EIO: return IoKind::HardwareFault;
    case EPIPE: return IoKind::ResourceVanished;
    case EINTR: return IoKind::Interrupted;
    case ENOSYS:
    case EXDEV:
    case ESPIPE:
    case EOPNOTSUPP: return IoKind::UnsupportedOperation;
    default: return IoKind::Other;
  }
}

std::string MessageOf(const ErrorObject& error) { return error.code == ErrorCode::Io ? IoErrorText(error.message) : error.message; }

}  // namespace df
