//! Findings of recordings, over calls in the order in which they close: duplicate effects, identical calls, reused keys,
//! loops. Playbooks only tell what a failure means. Memory is bounded, except the sums of effects, and 16 bytes for each
//! redeemed reversal token (in one input), in a table that is at least half full.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::FixedState;

use playproof_engine::call::Reply;
use playproof_engine::classify::{KnownFailures, keyed_for};
use playproof_engine::event::{ErrorFacts, Finding, FindingId, IntentDoubt};
use playproof_engine::evidence::{
    Against, CallShows, Evidence, FailureMeaning, MOST_IDENTICAL_CALLS, Moment, OneMore, RequestBook, Reruns,
    acts_again,
};
use playproof_engine::ids::{AttemptNo, CallId};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_engine::time::Instant;
use playproof_formats::playbook::lint::SeenArguments;
use playproof_intake::call::{AttemptCounts, CompletedCall};
use playproof_intake::call_hashes::{CallHashes, args_hash};
use playproof_intake::simd::prefetch;
use playproof_intake::tool_facts::argument_names;
use playproof_intake::window::Window;

use super::attempts::{Judges, finding, settled, wait_of, wait_until};
use super::begun_again::BegunAgain;
use super::effect_scope::{EffectScope, net_effects, sum_of};
use super::effect_sums::EffectSums;
use super::hidden_intent::{HiddenIntents, SentAfter, SentIn};
use super::open_actions::OpenActions;
use super::possible_duplicates::PossibleDuplicates;
use super::recorded_outages::RecordedOutages;
use super::repeated_actions::RepeatedActions;
use super::run_ends::{RunEnds, UnsettledRuns};
use super::step_order::{StepOrder, has_steps};
use super::successes::Successes;
use super::used_keys::UsedKeys;

/// The window of calls for loops and resends.
const WINDOW: u16 = 10_000;

/// A call within the window; of identical ones, the newest has what they show. Small: most calls are made once.
#[derive(Debug, Default)]
struct Recent {
    /// Identical calls; 0: there is a newer one.
    count: u32,
    /// A mark of the key of the only call; 0: none.
    key: u32,
    shows: Shows,
    /// The last line of the only call; 0: it has no end.
    ended_on: u64,
    /// The time of its end in microseconds.
    ended_at: u64,
}

/// What the calls of one entry show. Evaluated lazily, because most calls are made once.
#[derive(Debug, Default)]
enum Shows {
    /// No call yet.
    #[default]
    Nothing,
    /// One call without an answer.
    Unanswered,
    /// One call with one attempt, which succeeded.
    Ok,
    /// One call with one attempt, which failed with this error.
    Failed(Option<Arc<ErrorFacts>>),
    /// Several calls, or several answers.
    Several(Box<RequestBook>),
}

/// The most names of arguments of one tool.
const MOST_ARGUMENTS: usize = 1_000;

/// In `ended_at`: the time is not known.
const NO_TIME: u64 = u64::MAX;

/// The sequential analysis of all inputs.
#[derive(Debug)]
pub struct RecordingAnalysis {
    effects: EffectSums,
    of_input: OfInput,
    recent: Window<Recent>,
    /// Those for which runs do not matter, of all inputs.
    in_all_runs: Window<Recent>,
    run_ends: RunEnds,
    used_keys: UsedKeys,
    /// By input, line of the transaction and intent.
    reruns: Reruns<(u32, u64, u128)>,
    /// Of all inputs.
    hidden: HiddenIntents,
    possible_duplicates: PossibleDuplicates,
    /// The arguments of tools of which the first plan names those that make a request.
    arguments: SeenArguments,
    /// What failures mean according to the plans.
    known: KnownFailures<FailureMeaning>,
}

/// What is known of the calls of one input.
#[derive(Debug, Default)]
struct OfInput {
    /// Reversal tokens that calls redeemed, with their runs.
    redeemed: HashSet<u128, FixedState>,
    open_actions: OpenActions,
    repeated_actions: RepeatedActions,
    step_order: StepOrder,
    successes: Successes,
    begun_again: BegunAgain,
    outages: RecordedOutages,
}

impl Default for RecordingAnalysis {
    fn default() -> RecordingAnalysis {
        RecordingAnalysis {
            effects: EffectSums::default(),
            of_input: OfInput::default(),
            recent: Window::new(usize::from(WINDOW)),
            in_all_runs: Window::new(0),
            run_ends: RunEnds::default(),
            used_keys: UsedKeys::default(),
            reruns: Reruns::default(),
            hidden: HiddenIntents::default(),
            possible_duplicates: PossibleDuplicates::default(),
            arguments: SeenArguments::new(),
            known: KnownFailures::default(),
        }
    }
}

impl RecordingAnalysis {
    /// Begins another input: keys mean the same in it, and runs of the same id may.
    pub fn begin_input(&mut self) {
        self.effects.begin_input();
        self.of_input = OfInput::default();
        self.run_ends.end_input();
        self.recent = Window::new(usize::from(WINDOW));
    }

    /// Takes the next closed call, and adds its findings. `plans` tell what a failure means.
    pub fn take(&mut self, closed: &CompletedCall, facts: ToolFacts, plans: &[Plan], mut found: impl FnMut(Finding)) {
        self.take_arguments(closed, plans);
        let mut found = |finding| found(facts.weigh(finding));
        let mut known = Vec::new();
        let mut findings = |finding: Finding| {
            known.push(finding.id);
            found(finding);
        };
        if closed.counts.reversed > 0
            && let Some(token) = closed.token_mark()
            && !self.of_input.redeemed.insert(token)
        {
            findings(finding(FindingId::TokenReused, 1));
        }
        let mut known_failures = std::mem::take(&mut self.known);
        let mut judges = Judges::new(plans, &mut known_failures);
        let of_input = &mut self.of_input;
        of_input.outages.take(closed, plans.first()).map(&mut findings);
        of_input.open_actions.take(closed, facts, plans).map(&mut findings);
        of_input.step_order.take(closed, plans).map(&mut findings);
        let last_success = of_input.successes.take(closed, plans);
        if plans.first().is_some_and(|plan| plan.has_steps) {
            let shows = || CallShows { last_success, ..repeated(closed, facts, &mut judges) };
            of_input.repeated_actions.take(closed, facts, plans, shows, &mut findings);
        }
        let was_skipped = closed.raw().step().is_some() && closed.raw().was_unsent();
        if was_skipped || has_steps(closed.raw(), plans.first()) {
            self.known = known_failures;
            return; // it was not sent, or its steps are compared in its place
        }
        let key = closed.hashes.key_under(facts);
        if facts.repeatable && key != 0 && !closed.raw().was_unsent() {
            self.used_keys.take(key, made_in_input(closed));
        }
        let is_among_steps = plans.first().is_some_and(|plan| plan.has_steps);
        let recent = remember(self.window(facts), closed.hashes.request);
        recent.count += 1;
        if recent.count > MOST_IDENTICAL_CALLS {
            findings(finding(FindingId::RunawayLoop, recent.count));
        }
        let mut possible = 0;
        let doubt = intent_doubt(closed, facts);
        recent.take(closed, facts, (last_success, is_among_steps), &mut judges, |mut finding| {
            finding.doubt = finding.doubt.or(doubt.filter(|&doubt| doubt == IntentDoubt::NoArguments));
            possible = if finding.id == FindingId::PossibleDuplicateEffect { finding.count } else { possible };
            findings(finding);
        });
        let unkeyed_effects = recent.unkeyed_effects();
        if possible > 0 {
            let lists = &mut self.possible_duplicates;
            let list = match (doubt, facts.declared) {
                (Some(IntentDoubt::NoRun), true) => &mut lists.without_run,
                (Some(IntentDoubt::NoArguments), true) => &mut lists.without_arguments,
                (_, false) if closed.counts.succeeded == 0 && unkeyed_effects == 0 => &mut lists.resent,
                _ => &mut lists.failed,
            };
            list.add(closed.shown().tool(), 1);
        }
        self.take_transaction(closed, facts, &mut findings);
        self.take_effects(closed, facts, unkeyed_effects, &mut findings);
        let mut seen = None;
        let mut shows = || *seen.get_or_insert_with(|| repeated(closed, facts, &mut judges));
        self.take_hidden(closed, facts, &mut shows, |finding| {
            let duplicates = [FindingId::DuplicateEffect, FindingId::PossibleDuplicateEffect];
            let is_known =
                |id| known.contains(&id) || duplicates.contains(&id) && duplicates.iter().any(|id| known.contains(id));
            let is_new = !is_known(finding.id);
            if is_new {
                found(finding);
            }
            is_new
        });
        let again = self.of_input.begun_again.take(closed, facts, &mut shows);
        if let Some(again) = again.filter(|again| !known.contains(&again.id)) {
            self.possible_duplicates.begun_again.add(closed.shown().tool(), 1);
            found(again);
        }
        self.run_ends.take(closed, facts, shows).map(&mut found);
        self.known = known_failures;
    }

    /// Takes what a call did in its transaction, where the trace has any.
    fn take_transaction(&mut self, closed: &CompletedCall, facts: ToolFacts, mut findings: impl FnMut(Finding)) {
        let Some(of) = closed.raw().transaction.as_deref() else { return };
        let AttemptCounts { attempts, succeeded, .. } = closed.counts;
        if of.was_committed && facts.access == Access::Write {
            findings(finding(FindingId::CommittedOverFailure, 1));
        }
        if !acts_again(facts) {
            return;
        }
        let request = (closed.raw().place.input, of.since, closed.hashes.intent());
        let acted = succeeded > 0 || attempts > 0;
        if self.reruns.take(request, of.begun, succeeded > 0, acted) {
            let again = finding(FindingId::Reexecuted, 1);
            findings(if facts.declared { again } else { again.in_doubt() });
        }
    }

    /// Keeps the names of a call's arguments, until all that make its request are known.
    fn take_arguments(&mut self, closed: &CompletedCall, plans: &[Plan]) {
        let Some(same_if) = plans.first().and_then(|plan| plan.same_if(closed.raw().tool())) else { return };
        let seen = self.arguments.entry(closed.shown().tool().to_owned()).or_default();
        if same_if.names().iter().any(|name| !seen.contains(&**name)) {
            let names = closed.shown().args().map(argument_names).unwrap_or_default();
            seen.extend(names.into_iter().take(MOST_ARGUMENTS.saturating_sub(seen.len())));
        }
    }

    /// The arguments of tools of which the first plan names those that make a request.
    pub fn arguments(&self) -> &SeenArguments {
        &self.arguments
    }

    /// The runs so far that end on a write whose effect is unknown.
    pub fn unsettled_runs(&self) -> &UnsettledRuns {
        self.run_ends.unsettled()
    }

    /// Why, as far as is known at a moment, one more call like this one, or a step of it, could do harm. Calls that were made
    /// before that are taken, perhaps calls that were made later.
    pub fn against(
        &mut self,
        closed: &CompletedCall,
        facts: ToolFacts,
        plans: &[Plan],
        now: Moment,
    ) -> Option<Against> {
        let known = match plans.iter().find(|plan| has_steps(closed.raw(), Some(plan))) {
            Some(plan) => self.steps_against(closed, plan, now),
            None => self.own_against(closed, facts, plans, now),
        };
        let plan = plans.first().filter(|plan| plan.has_steps);
        let is_under_way = || plan.is_some_and(|plan| self.of_input.repeated_actions.is_under_way(closed, plan, now));
        known.or_else(|| is_under_way().then_some(Against::MayBeDone))
    }

    /// Whether one more call like this one could do harm where its agent is told of it. Of an action whose end is not
    /// recorded nobody knows when that is: neither at the last end of its steps, nor at the end of the recording, may
    /// anything be known against it.
    pub fn is_unwise(&mut self, closed: &CompletedCall, facts: ToolFacts, plans: &[Plan], told: Moment) -> bool {
        let steps = self.of_input.repeated_actions.steps_of(closed);
        let ends = steps.iter().filter(|_| told == Moment::END).filter_map(|step| step.shows.ended);
        let last = ends.reduce(|last, end| if end.is_after(last) { end } else { last });
        let mut against = |now| self.against(closed, facts, plans, now).is_some();
        against(told) || last.is_some_and(against)
    }

    /// What is known against making the steps of an action.
    fn steps_against(&self, closed: &CompletedCall, plan: &Plan, now: Moment) -> Option<Against> {
        let call = closed.raw();
        let recorded = self.of_input.repeated_actions.steps_of(closed);
        let steps = plan.steps_of(call.tool()).iter().filter_map(|step| {
            let facts = step.facts(plan.facts(&step.tool));
            let key = call.key().map(|key| format!("{key}/{}", step.name));
            let now = in_input(now, closed, facts);
            let recorded = recorded.iter().find(|of| of.is(&step.name)).map(|of| of.args);
            let args = recorded.unwrap_or_else(|| args_under(plan, &step.tool, closed));
            let hashes = CallHashes::new(call.run(), None, &step.tool, key.as_deref(), args);
            let hashes = hashes.with_request(args, facts.across_runs);
            let key = u64::from(key_mark(hashes.key_under(facts)));
            let next = OneMore { own: &[], key, is_step: true, now };
            let sent = SentIn::of(&hashes, (call.place.input, call.run().is_some()), facts);
            let of_actions = self.of_input.repeated_actions.step(closed.hashes.request, &step.name);
            let of_actions = of_actions.and_then(|book| book.against(next, facts));
            let known = self.known_against(hashes.request, next, facts).into_iter().chain(of_actions);
            known.chain(self.hidden_against(&sent, facts, now)).min()
        });
        steps.min()
    }

    /// What is known against sending the call itself.
    fn own_against(
        &mut self,
        closed: &CompletedCall,
        facts: ToolFacts,
        plans: &[Plan],
        now: Moment,
    ) -> Option<Against> {
        let call = closed.raw();
        let mut known_failures = std::mem::take(&mut self.known);
        let own = repeated(closed, facts, &mut Judges::new(plans, &mut known_failures));
        self.known = known_failures;
        let now = in_input(now, closed, facts);
        let next = OneMore { own: &[own], key: own.key, is_step: false, now };
        let sent = SentIn::of(&closed.hashes, (call.place.input, call.run().is_some()), facts);
        let (key, told) = (closed.hashes.key_under(facts), now.in_input(call.place.input));
        let is_used = facts.repeatable && self.used_keys.is_used_by_another(key, made_in_input(closed), told);
        let known = self.known_against(closed.hashes.request, next, facts);
        let known = known.or_else(|| is_used.then_some(Against::KeyOfAnother));
        known.or_else(|| self.hidden_against(&sent, facts, now))
    }

    fn known_against(&self, request: u128, next: OneMore<'_>, facts: ToolFacts) -> Option<Against> {
        let window = if facts.across_runs { &self.in_all_runs } else { &self.recent };
        let recent = window.find(request).and_then(|number| window.get(number));
        match recent.map(|recent| &recent.shows) {
            Some(Shows::Several(book)) => book.against(next, facts),
            _ => None, // the only call is the one that is judged
        }
    }

    fn hidden_against(&self, sent: &SentIn, facts: ToolFacts, now: Moment) -> Option<Against> {
        let acts = acts_again(facts);
        let refused = self.hidden.may_be_refused(sent, now).then_some(Against::Denied);
        refused.or_else(|| (acts && self.hidden.may_have_acted(sent, now)).then_some(Against::MayBeDone))
    }

    /// Takes the effects of a call, with those of the calls that share its intent.
    fn take_effects(
        &mut self,
        closed: &CompletedCall,
        facts: ToolFacts,
        unkeyed_effects: u32,
        mut findings: impl FnMut(Finding),
    ) {
        let effects = net_effects(&closed.counts, facts);
        let doubt = intent_doubt(closed, facts);
        match sum_of(closed, facts) {
            EffectScope::None => {}
            EffectScope::Call => {
                if effects > 1 {
                    findings(finding(FindingId::DuplicateEffect, effects));
                }
            }
            EffectScope::Recent => {
                if unkeyed_effects > 1 {
                    findings(finding(FindingId::PossibleDuplicateEffect, unkeyed_effects));
                    self.possible_duplicates.undeclared.add(closed.shown().tool(), 1);
                }
            }
            EffectScope::Input => {
                let all = self.effects.of_request(&closed.hashes, facts.across_runs);
                *all = all.saturating_add(effects);
                let proved = if doubt.is_none() { *all } else { effects };
                if proved > 1 {
                    findings(finding(FindingId::DuplicateEffect, proved));
                }
                if *all > proved.max(1) {
                    let why = doubt.filter(|&doubt| doubt == IntentDoubt::NoArguments);
                    findings(Finding { doubt: why, ..finding(FindingId::PossibleDuplicateEffect, *all) });
                    let lists = &mut self.possible_duplicates;
                    let list = if why.is_some() { &mut lists.without_arguments } else { &mut lists.without_run };
                    list.add(closed.shown().tool(), 1);
                }
            }
            EffectScope::Key => self.take_key(closed, facts, effects, &mut findings),
        }
    }

    /// Takes a call that may be the same request as one of another input or run, or as one without recorded arguments.
    /// `shows` is what it shows by itself; `found` tells whether the finding is new.
    fn take_hidden(
        &mut self,
        closed: &CompletedCall,
        facts: ToolFacts,
        shows: impl FnOnce() -> CallShows,
        mut found: impl FnMut(Finding) -> bool,
    ) {
        let mut doubted = |id, count, doubt| found(Finding { doubt: Some(doubt), ..finding(id, count).in_doubt() });
        let effects = net_effects(&closed.counts, facts);
        let acts = acts_again(facts);
        let AttemptCounts { attempts, succeeded, failed_on, .. } = closed.counts;
        if failed_on == 0 && !acts && !self.hidden.has_refused() {
            return; // the usual read
        }
        let is_named = closed.raw().run().is_some();
        let sent = SentIn::of(&closed.hashes, (closed.raw().place.input, is_named), facts);
        // A success matters only to a refusal of its own request.
        let may_be_refused =
            failed_on != 0 || self.hidden.has_refused() && (attempts > succeeded || self.hidden.has_refused_of(&sent));
        let seen = (may_be_refused || acts && effects == 0).then(shows);
        if let Some(seen) = &seen {
            let SentAfter { denial, conflict } = self.hidden.sent_after(sent, seen);
            denial.map(|doubt| doubted(FindingId::RetriedAfterDenial, 1, doubt));
            conflict.map(|doubt| doubted(FindingId::RetriedAfterConflict, 1, doubt));
        }
        if acts
            && (effects > 0 || seen.is_some_and(|seen| seen.may_have_acted))
            && let Some((count, doubt)) = self.hidden.take(closed, sent, effects)
            && doubted(FindingId::PossibleDuplicateEffect, count, doubt)
        {
            let lists = &mut self.possible_duplicates;
            let list = match doubt {
                IntentDoubt::TwoInputs => &mut lists.two_inputs,
                IntentDoubt::NoRun => &mut lists.without_run,
                IntentDoubt::NoArguments => &mut lists.without_arguments,
                IntentDoubt::SameId | IntentDoubt::BegunAgain => &mut lists.begun_again,
            };
            list.add(closed.shown().tool(), 1);
        }
    }

    /// Takes a write with a key.
    fn take_key(&mut self, closed: &CompletedCall, facts: ToolFacts, effects: u32, mut findings: impl FnMut(Finding)) {
        if self.effects.is_new_under_key(closed) {
            findings(finding(FindingId::KeyReused, 1)); // once for each further request, in any order of the inputs
        }
        let all = self.effects.of_key(closed);
        *all = all.saturating_add(effects);
        let all = if facts.repeatable { effects } else { *all }; // each call has an intent of its own
        // An upstream that honours keys book its first answer: no proof of a second effect.
        if effects > 0 && all > 1 && !facts.idempotent {
            findings(finding(FindingId::PossibleDuplicateEffect, all));
            self.possible_duplicates.keyed.add(closed.shown().tool(), 1);
        }
    }

    /// Prefetches what `take` will look up, and reserves entries for effects. In one pass, so that memory accesses overlap.
    pub fn prepare(&mut self, calls: &[CompletedCall], facts: &[ToolFacts]) {
        self.recent.prefetch(calls.iter().map(|closed| closed.hashes.request));
        self.hidden.prefetch(
            calls.iter().zip(facts).filter(|(_, facts)| acts_again(**facts)).map(|(closed, _)| &closed.hashes),
        );
        calls.iter().filter_map(|closed| closed.raw().answers.first()).for_each(prefetch);
        for (closed, &facts) in calls.iter().zip(facts) {
            match sum_of(closed, facts) {
                EffectScope::Input => self.effects.reserve(&closed.hashes, facts.across_runs),
                EffectScope::None | EffectScope::Call | EffectScope::Recent | EffectScope::Key => {}
            }
        }
    }

    /// Calls that may have made an effect again, by tool.
    pub fn possible_duplicates(&self) -> &PossibleDuplicates {
        &self.possible_duplicates
    }

    /// The last calls with which those of a tool are compared.
    fn window(&mut self, facts: ToolFacts) -> &mut Window<Recent> {
        if facts.across_runs { &mut self.in_all_runs } else { &mut self.recent }
    }
}

/// The entry of a call; drops the oldest one of the window.
fn remember(window: &mut Window<Recent>, same: u128) -> &mut Recent {
    if window.next() - window.first() >= u64::from(WINDOW)
        && let Some((mark, Recent { count: 0, .. })) = window.pop_first(|_| true)
        && let Some(newest) = newest(window, mark)
    {
        newest.count -= 1;
    }
    let known = newest(window, same).map(std::mem::take);
    window.push(same, known.unwrap_or_default())
}

fn newest(window: &mut Window<Recent>, same: u128) -> Option<&mut Recent> {
    let number = window.find(same)?;
    window.get_mut(number)
}

impl Recent {
    /// Takes a call, and gives what it shows beside the identical ones before it. `is_among_steps`: an action may make it.
    fn take(
        &mut self,
        closed: &CompletedCall,
        facts: ToolFacts,
        (last_success, is_among_steps): (Option<Moment>, bool),
        judges: &mut Judges<'_>,
        found: impl FnMut(Finding),
    ) {
        let counts = &closed.counts;
        if let Shows::Nothing = self.shows
            && !is_among_steps // an action asks for the only call of its step
            && !facts.across_runs // its moments are those of an input
            && let Some(first) = Shows::of(closed)
        {
            self.shows = first;
            self.key = key_mark(closed.hashes.key);
            self.ended_on = counts.ended_on;
            self.ended_at = counts.ended_at.map_or(NO_TIME, Instant::as_micros);
            return; // the usual call
        }
        let evidence = Evidence { facts, one_request: intent_doubt(closed, facts).is_none() };
        let mut book = match std::mem::take(&mut self.shows) {
            Shows::Several(book) => book,
            first => {
                let mut book = Box::<RequestBook>::default();
                if let Some(first) = self.first(&first, closed, facts, judges) {
                    book.take(CallId(0), &first, evidence, |_| {});
                }
                book
            }
        };
        let mut shows = repeated(closed, facts, judges);
        shows.last_success = last_success.map(|success| in_input(success, closed, facts));
        book.take(CallId(0), &shows, evidence, found);
        self.shows = Shows::Several(book);
    }

    /// Proved effects of the calls without a key, as far as they may be more than one.
    fn unkeyed_effects(&self) -> u32 {
        match &self.shows {
            Shows::Several(book) => book.unkeyed_effects(),
            _ => 0,
        }
    }

    /// The only call so far; `closed` is identical to it.
    fn first(
        &self,
        shows: &Shows,
        closed: &CompletedCall,
        facts: ToolFacts,
        judges: &mut Judges<'_>,
    ) -> Option<CallShows> {
        let writes = facts.access == Access::Write;
        let at = Some(self.ended_at).filter(|&at| at != NO_TIME).map(Instant::from_micros);
        let ended = (self.ended_on > 0).then_some(Moment::new(at, self.ended_on));
        let key = if facts.ignores_keys { 0 } else { u64::from(self.key) };
        let call = CallShows { key, ended, ..CallShows::default() };
        Some(match shows {
            Shows::Nothing | Shows::Several(_) => return None,
            Shows::Unanswered => CallShows { may_have_acted: writes, ..call },
            Shows::Ok => CallShows { effects: u32::from(writes), ..call },
            Shows::Failed(error) => {
                let failure =
                    judges.meaning(closed.raw(), facts, (Some(self.key != 0), AttemptNo::FIRST), error.as_ref());
                let wait_until = wait_of(error.as_deref(), at);
                CallShows { failed: true, wait_until, ..call }.with(failure, writes)
            }
        })
    }
}

impl Shows {
    /// What a usual call shows; none if it has several answers, leaves an attempt out, or failed with another call's key.
    fn of(closed: &CompletedCall) -> Option<Shows> {
        let AttemptCounts { answers, attempts, succeeded, left_out, .. } = closed.counts;
        match (answers, attempts, succeeded, left_out) {
            (0, ..) => (!closed.raw().was_unsent()).then_some(Shows::Unanswered),
            (1, 1, 1, 0) => Some(Shows::Ok),
            (1, 1, 0, 0) => match closed.raw().answers.first().map(|answer| &answer.reply) {
                Some(Reply::Failed(error)) => {
                    let is_other_key = keyed_for(error.as_deref(), closed.raw().key()).is_none();
                    (!is_other_key).then(|| Shows::Failed(error.clone()))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// A call, for comparison with identical ones.
fn repeated(closed: &CompletedCall, facts: ToolFacts, judges: &mut Judges<'_>) -> CallShows {
    let (call, counts) = (closed.raw(), &closed.counts);
    let writes = facts.access == Access::Write;
    let line = |place: u64, at| (place > 0).then_some(Moment::new(at, place));
    let mut seen = CallShows {
        key: u64::from(key_mark(closed.hashes.key_under(facts))),
        made: Moment::new(call.at, call.place.line),
        ended: line(counts.ended_on, counts.ended_at),
        last_write: counts.last_write,
        failed: counts.failed_on != 0,
        effects: net_effects(counts, facts),
        may_have_acted: writes
            && (counts.attempts == 0 && !call.was_unsent() || counts.left_out > 0 || counts.may_be_taken_back()),
        is_out: call.is_unanswered(),
        over: call.dispatch.as_ref().and_then(|of| of.ended).map(|(at, place)| Moment::new(Some(at), place)),
        ..CallShows::default()
    };
    if counts.attempts > counts.succeeded {
        for (number, answer) in call.attempts() {
            (seen.denied, seen.processed, seen.advice, seen.out_of_order) = (false, false, None, false); // those of the last answer count
            seen.wait_until = wait_until(answer);
            seen.suspected = matches!(answer.reply, Reply::Suspected(_) | Reply::Unfinished(_));
            seen.may_have_acted |= writes && seen.suspected;
            if let Reply::Failed(error) = &answer.reply {
                let keyed = keyed_for(error.as_deref(), call.key());
                let failure = judges.meaning(call, facts, (keyed, number), error.as_ref());
                seen = seen.with(failure, writes);
            }
        }
    }
    if seen.may_have_acted && seen.effects == 0 && counts.attempts > 0 && counts.left_out + counts.ambiguous == 0 {
        seen.settled = settled(call, facts, judges);
    }
    if facts.across_runs { seen.in_input(call.place.input) } else { seen }
}

/// The arguments of a call that would make a request of `tool`.
pub fn args_under(plan: &Plan, tool: &str, closed: &CompletedCall) -> u128 {
    let same_if = plan.same_if(tool);
    match same_if.is_none() && !closed.is_named {
        true => closed.hashes.args, // the usual call
        false => args_hash(same_if, closed.raw().args()).0,
    }
}

/// When a call was made, among those of all inputs.
fn made_in_input(closed: &CompletedCall) -> Moment {
    let (at, place) = (closed.raw().at, closed.raw().place);
    Moment::new(at, place.line).in_input(place.input)
}

/// A moment, among those with which it is compared: of the input of a call, or of all.
fn in_input(moment: Moment, closed: &CompletedCall, facts: ToolFacts) -> Moment {
    if facts.across_runs { moment.in_input(closed.raw().place.input) } else { moment }
}

/// Why calls that look like this one may be other requests. A run that is not named says nothing where runs do not matter.
fn intent_doubt(closed: &CompletedCall, facts: ToolFacts) -> Option<IntentDoubt> {
    let hides_args = closed.raw().args().is_none().then_some(IntentDoubt::NoArguments);
    if facts.across_runs { hides_args } else { closed.raw().intent_doubt() }
}

/// A mark of a call's key; 0: it has none.
fn key_mark(key: u128) -> u32 {
    if key == 0 { 0 } else { mark(key).max(1) }
}

#[expect(clippy::cast_possible_truncation, reason = "32 bits tell the few keys of one request apart")]
const fn mark(hash: u128) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_window_fits_a_cache_line_with_its_links() {
        assert!(size_of::<Recent>() <= 40, "a trace has millions of calls that are made once");
    }
}
