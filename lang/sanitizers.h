// lang/sanitizers.h
//
// DFC_SANITIZED: this is a build with AddressSanitizer or ThreadSanitizer, which want to see each allocation and the
// signals that they handle. GCC says so by macros, Clang by features.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DFC_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DFC_SANITIZED 1
#endif
#endif
