//! New evidence before a further attempt.

use super::Transition;
use crate::dispatch::calls::Phase;
use crate::dispatch::io::{Response, ResponseMeta};
use crate::dispatch::wait;
use crate::event::{Decision, DeprecationReason, OutcomeKind, RequestKind, StopReason};
use crate::ids::{AttemptNo, CallId, EvidenceId};
use crate::playbook::{AfterRefresh, Refresh};

impl Transition<'_> {
    pub(super) fn on_refresh(&mut self, refresh: &Refresh) {
        if refresh.then == AfterRefresh::Retry
            && let Some(why) = self.retry_guard()
        {
            return self.suppress(why, refresh.on_unsafe);
        }
        if let Err((stop, by)) = self.refresh_allowed(refresh) {
            return match stop == StopReason::MaxRefreshes && self.deprecates_after_futile_refresh() {
                true => self.deprecate(DeprecationReason::RefreshFutile),
                false => self.stop(stop, by),
            };
        }
        let state = self.state();
        state.refreshes += 1;
        let evidence = EvidenceId(state.refreshes);
        state.phase = Phase::Refreshing(evidence, refresh.then);
        self.ask(RequestKind::Refresh(evidence), evidence);
    }

    /// Whether the limits leave room for a refresh and the attempt after it.
    ///
    /// # Errors
    /// The first limit that does not, and the call that took the last of it.
    fn refresh_allowed(&mut self, refresh: &Refresh) -> Result<(), (StopReason, Option<CallId>)> {
        let (now, limits) = (self.now, self.limits());
        let state = self.state();
        if state.refreshes >= refresh.max_refreshes {
            return Err((StopReason::MaxRefreshes, None));
        }
        if refresh.then == AfterRefresh::Abort {
            return Ok(()); // the limits are those of attempts, and no attempt follows
        }
        let next = AttemptNo::new(state.attempts).next();
        wait::attempts_left(&limits, state.attempts)
            .and_then(|()| wait::starts_in_time(&limits, state.facts.at, now))
            .map_err(|stop| (stop, None))?;
        self.reserve_tool_call(next).map_err(|by| (StopReason::Budget, by))
    }

    pub(super) fn on_refresh_ended(
        &mut self,
        evidence: EvidenceId,
        then: AfterRefresh,
        response: Response,
        meta: ResponseMeta,
    ) {
        let (status, provenance) = (response.status(), meta.provenance);
        self.emit(Decision::EvidenceRefreshed { evidence, status, provenance });
        match response {
            Response::Ok => self.on_refreshed(Some(evidence), then),
            _ if self.playbook.studies(|study| study.resends_after_failed_refresh) => {
                self.state().note_error(response.error());
                self.on_refreshed(None, then);
            }
            Response::Unanswered => self.finish(OutcomeKind::Undetermined(RequestKind::Refresh(evidence))),
            Response::Suspected(error) => {
                self.state().note_error(error);
                self.finish(OutcomeKind::Suspected(RequestKind::Refresh(evidence)));
            }
            Response::Unfinished(error) => {
                self.state().note_error(error);
                self.finish(OutcomeKind::Unfinished(RequestKind::Refresh(evidence)));
            }
            Response::Refused(_) | Response::Unclear(_) | Response::Failed(_) => {
                self.state().note_error(response.error());
                self.finish(OutcomeKind::Exhausted(StopReason::RefreshFailed));
            }
        }
    }

    /// Goes on after a refresh, with the evidence that it brought.
    fn on_refreshed(&mut self, evidence: Option<EvidenceId>, then: AfterRefresh) {
        if then == AfterRefresh::Abort {
            return self.deprecate(DeprecationReason::RefreshAbort);
        }
        let (now, limits) = (self.now, self.limits());
        let resends_stale = self.playbook.studies(|study| study.resends_stale_evidence);
        let state = self.state();
        let (since, next) = (state.facts.at, AttemptNo::new(state.attempts).next());
        if let Some(evidence) = evidence.filter(|_| !resends_stale) {
            state.evidence = evidence;
        }
        match wait::starts_in_time(&limits, since, now) {
            Ok(()) => self.start(next),
            Err(stop) => self.finish(OutcomeKind::Exhausted(stop)),
        }
    }

    fn deprecates_after_futile_refresh(&self) -> bool {
        self.playbook.studies(|study| study.futile_refresh_deprecates)
    }
}
