/*
 * agenthost.hpp - the Agent Host protocol for C++17 and later: agenthost.h with owners, virtual functions and exceptions.
 *
 * Header-only; needs agenthost.h and the library behind it, nothing else. This header has everything; each of those that it includes
 * can be included alone.
 *
 * Threads      Every function may be called from any thread unless it says otherwise. Different objects are independent;
 *              one object is used like a standard container: by many readers or by one writer. A `host` and `runs` are the
 *              exception: any number of threads may call through one.
 * Ownership    What a function returns owns what it holds. What a service is given is borrowed: the texts of a request, of
 *              its call and of a log record are valid until the function that got them returns.
 * Text         UTF-8, may contain U+0000. JSON is text: the application brings the parser it likes.
 * Exceptions   Three kinds. `error`: this interface was used against its rules. `host_error`: an error of the protocol, which a
 *              service throws or returns and a client or a worker receives; a conflict of durable runs has a type for each reason.
 *              `std::bad_alloc`. None crosses into the library: what leaves a service, a callback or a log function is caught at
 *              the boundary, and logged once.
 * Rules        None of the protocol's rules stands here. The library checks them, the C header and the contract say them.
 */
#ifndef AGENTHOST_HPP
#define AGENTHOST_HPP

#include <agenthost/approvals.hpp>
#include <agenthost/buffer.hpp>
#include <agenthost/client.hpp>
#include <agenthost/enums.hpp>
#include <agenthost/errors.hpp>
#include <agenthost/host.hpp>
#include <agenthost/library.hpp>
#include <agenthost/metadata.hpp>
#include <agenthost/options.hpp>
#include <agenthost/pending.hpp>
#include <agenthost/prepared_request.hpp>
#include <agenthost/reply.hpp>
#include <agenthost/requests.hpp>
#include <agenthost/response.hpp>
#include <agenthost/runs.hpp>
#include <agenthost/service.hpp>
#include <agenthost/values.hpp>
#include <agenthost/work.hpp>

#endif  // AGENTHOST_HPP
