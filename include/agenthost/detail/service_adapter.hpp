// A service in C++ as the slots of the C interface.
#ifndef AGENTHOST_DETAIL_SERVICE_ADAPTER_HPP
#define AGENTHOST_DETAIL_SERVICE_ADAPTER_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/from_c.hpp>
#include <agenthost/detail/logger.hpp>
#include <agenthost/detail/to_c.hpp>
#include <agenthost/service.hpp>

#include <memory>
#include <utility>
#include <variant>

namespace agenthost {

namespace detail {

/// Owned by the library; its slots lead here.
class service_adapter {
public:
    service_adapter(std::shared_ptr<service> served, std::shared_ptr<const logger> log)
        : served_(std::move(served)), log_(std::move(log)) {}

    /// The six slots, without their data.
    static agenthost_service slots() noexcept {
        agenthost_service out = sized<agenthost_service>();
        out.destroy = destroy;
        out.create_run = slot<&service::create_run, agenthost_create_run>;
        out.get_run = slot<&service::get_run, agenthost_get_run>;
        out.cancel_run = slot<&service::cancel_run, agenthost_cancel_run>;
        out.resolve_approval = slot<&service::resolve_approval, agenthost_resolve_approval>;
        out.resume_run = slot<&service::resume_run, agenthost_resume_run>;
        out.list_events = slot<&service::list_events, agenthost_list_events>;
        return out;
    }

private:
    /// Calls one function of the service, and answers with what comes of it.
    template <auto Function, class Source>
    static void slot(void* data, const agenthost_call* source, const Source* request, agenthost_reply* reply) noexcept {
        const service_adapter& self = *static_cast<const service_adapter*>(data);
        const call about(*source, reply, self.log_);
        agenthost_status status = AGENTHOST_OK;
        try {
            auto answered = ((*self.served_).*Function)(about, from_c(*request));
            status = std::visit([&](const auto& value) { return give_value(reply, value); }, answered.value_);
        } catch (const host_error& thrown) {
            status = self.give_error(reply, thrown, about);
        } catch (...) {
            status = self.give_internal(reply, "the service threw", about);
        }
        if (status == AGENTHOST_ALREADY_DONE && !agenthost_reply_is_abandoned(reply)) {
            self.log_->write(log_level::error, "the service deferred a call and answered it at once too: the answer is lost", {});
        }
    }

    template <class Answer>
    static agenthost_status give_value(agenthost_reply* reply, const Answer& value) {
        return give(reply, value);
    }
    /// Nothing to give: the reply was taken, or the library answers `internal` for want of an answer.
    static agenthost_status give_value(agenthost_reply*, deferred_t) noexcept { return AGENTHOST_OK; }

    agenthost_status give_error(agenthost_reply* reply, const host_error& thrown, const call& about) const noexcept {
        try {
            return give(reply, thrown);
        } catch (...) {
            return give_internal(reply, "the service's error could not be answered", about);
        }
    }

    /// Answers for the exception that is being handled; the library logs it.
    agenthost_status give_internal(agenthost_reply* reply, std::string_view message, const call& about) const noexcept {
        log_->describe_exception(name(about.operation), [&](agenthost_pairs fields) {
            // When somebody else has the reply, its answer counts, and the exception is logged all the same.
            static_cast<void>(agenthost_reply_fail(reply, text(message), fields));
        });
        return AGENTHOST_OK;
    }

    static void destroy(void* data) noexcept { delete static_cast<service_adapter*>(data); }

    std::shared_ptr<service> served_;
    std::shared_ptr<const logger> log_;
};

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_DETAIL_SERVICE_ADAPTER_HPP
