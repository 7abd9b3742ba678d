//! The redemption of a reversal token.

use super::Transition;
use crate::dispatch::calls::Phase;
use crate::dispatch::io::{Response, ResponseMeta};
use crate::event::{Decision, EffectClaim, OutcomeKind, RequestKind, ReversalRefusal, StopReason};
use crate::ids::{ErrorId, ReasonId};
use crate::playbook::{GuardMode, Reversal, Terminal};

impl Transition<'_> {
    pub(super) fn on_reversal(&mut self, reversal: Reversal) {
        let guard = self.playbook.token_guard();
        let token = self.state().facts.token;
        let spent = token.is_some_and(|token| self.machine.is_redeemed(token));
        let refused = match guard {
            GuardMode::Off => None,
            GuardMode::Checked if spent => Some(ReversalRefusal::TokenRedeemed),
            GuardMode::Checked if token.is_some() => None,
            GuardMode::Checked | GuardMode::Stops => Some(ReversalRefusal::NoToken),
        };
        if let Some(why) = refused {
            return self.refuse_reversal(why, reversal.on_refused);
        }
        self.machine.redeemed.extend(token);
        let Reversal { reason, on_refused } = reversal;
        let state = self.state();
        state.phase = Phase::Redeeming { reason, on_refused };
        let evidence = state.evidence;
        self.ask(RequestKind::Reversal, evidence);
    }

    pub(super) fn on_reversal_ended(
        &mut self,
        reason: ReasonId,
        on_refused: Terminal,
        response: Response,
        meta: ResponseMeta,
    ) {
        match response {
            Response::Ok => {
                self.emit(Decision::ReversalRedeemed { reason, provenance: meta.provenance });
                let state = self.state();
                let proof = if state.may_land { EffectClaim::Unknown } else { EffectClaim::NotApplied };
                state.claim = Some(proof);
                self.finish(OutcomeKind::Reversed(reason));
            }
            Response::Unanswered => {
                self.make_claim_unknown();
                self.finish(OutcomeKind::Undetermined(RequestKind::Reversal));
            }
            Response::Suspected(error) => self.on_open_reversal(error, OutcomeKind::Suspected(RequestKind::Reversal)),
            Response::Unfinished(error) => self.on_open_reversal(error, OutcomeKind::Unfinished(RequestKind::Reversal)),
            Response::Unclear(None) => {
                self.make_claim_unknown();
                self.refuse_reversal(ReversalRefusal::NoAnswer, on_refused);
            }
            Response::Unclear(Some(_)) | Response::Failed(_) => {
                self.make_claim_unknown();
                self.state().note_error(response.error());
                self.refuse_reversal(ReversalRefusal::UpstreamFailed, on_refused);
            }
            Response::Refused(_) => {
                self.state().note_error(response.error());
                self.refuse_reversal(ReversalRefusal::UpstreamRefused, on_refused);
            }
        }
    }

    /// A redemption that was not clearly refused may have reversed the effect: an applied claim becomes unknown.
    pub(super) fn make_claim_unknown(&mut self) {
        let state = self.state();
        if state.claim() != EffectClaim::NotApplied {
            state.claim = Some(EffectClaim::Unknown);
        }
    }

    /// The answer to a reversal does not say whether it happened.
    fn on_open_reversal(&mut self, error: Option<ErrorId>, kind: OutcomeKind) {
        self.make_claim_unknown();
        self.state().note_error(error);
        self.finish(kind);
    }

    fn refuse_reversal(&mut self, why: ReversalRefusal, on_refused: Terminal) {
        self.emit(Decision::ReversalRefused { why });
        match self.playbook.studies(|study| study.refused_reversal_exhausts) {
            true => self.finish(OutcomeKind::Exhausted(StopReason::ReversalRefused)),
            false => self.end(on_refused),
        }
    }
}
