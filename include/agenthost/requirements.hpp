// What the C++ headers need of the compiler. Where it is missing, this says so once, and the other headers declare nothing.
#ifndef AGENTHOST_REQUIREMENTS_HPP
#define AGENTHOST_REQUIREMENTS_HPP

// MSVC says the standard in __cplusplus only when it is asked to.
#if defined(_MSVC_LANG)
#define AGENTHOST_CPP_STANDARD _MSVC_LANG
#else
#define AGENTHOST_CPP_STANDARD __cplusplus
#endif

#if AGENTHOST_CPP_STANDARD >= 201703L && (defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND))
#define AGENTHOST_CPP_SUPPORTED 1
#else
#error "agenthost.hpp needs C++17 or later with exceptions: use -std=c++17 (MSVC: /std:c++17 /EHsc), without -fno-exceptions; agenthost.h needs neither"
#endif

#endif  // AGENTHOST_REQUIREMENTS_HPP
