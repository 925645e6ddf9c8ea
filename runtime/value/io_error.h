// runtime/value/io_error.h
//
// Errors of input and output as the root and the library (stdlib/Prelude/IO.df, primIOFailure) hand them to each other: a text of
// parts, the kind's letter, then the place, the file and the details with a NUL between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/value/value.h"

namespace df {

// By the library's numbers (primIOErrorName).
enum class IoKind : uint8_t {
  AlreadyExists, NoSuchThing, ResourceBusy, ResourceExhausted, EndOfFile, IllegalOperation, PermissionDenied, UserError, InvalidArgument,
  InappropriateType, UnsatisfiedConstraints, HardwareFault, UnsupportedOperation, ResourceVanished, Interrupted, Other,
};

std::string IoErrorParts(IoKind kind, std::string_view place, std::string_view file, std::string_view details);
// "f: openFile: does not exist (No such file or directory)", as GHC shows it. Any text is taken.
std::string IoErrorText(std::string_view parts);
// The kind and the details that GHC gives to a failed call of the system.
IoKind IoKindOf(int error_number);

// What an error says; "" if a value was thrown.
std::string MessageOf(const ErrorObject& error);

}  // namespace df
