//! Lints of waits and retries that contradict each other or the limits.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::playbook::places::Loaded;
use playproof_engine::dispatch::{first_retry_fits, wait_range};
use playproof_engine::event::WishFaults;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{
    AfterRefresh, Backoff, Compensation, ConditionKind, DEFAULT_TIMEOUT, Formula, LimitKind, Limits, Refresh, Retry,
    Rule, ServerDelayMode, Verdict,
};
use playproof_engine::time::Duration;

/// All lints of retries and refreshes.
pub(super) fn waits(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    for (id, verdict) in (0..).map(VerdictId).zip(&loaded.playbook.verdicts) {
        let Some(kind) = loaded.places.compensation(id) else { continue };
        let check = WaitLint { loaded, verdict, id, kind };
        match &verdict.then {
            Compensation::RetryWithBackoff(retry) => {
                let waits = check.written("backoff_ms").or_else(|| check.written("backoff"));
                let waits = waits.unwrap_or_else(|| check.kind.clone());
                found.extend(check.beyond_attempts(retry, &waits));
                found.extend(check.beyond_deadline(retry, &waits).or_else(|| check.no_retry_fits(retry, &waits)));
                found.extend(check.list(retry, &waits));
                found.extend(check.jitter(retry, &waits));
                found.extend(check.max_wait(retry));
                found.extend(check.faults(retry));
            }
            Compensation::RefreshEvidence(refresh) => {
                found.extend(check.refreshes(refresh));
            }
            _ => {}
        }
    }
}

/// Headers that no verdict heeds.
pub(super) fn sources(loaded: &Loaded) -> Option<Diagnostic> {
    let place = loaded.places.value(&["server_delay_sources"])?;
    let heeds = |Retry { server_delay, .. }: &Retry| {
        server_delay.mode != ServerDelayMode::Ignore || server_delay.stops_at != WishFaults::default()
    };
    if loaded.playbook.verdicts.iter().filter_map(|verdict| verdict.then.retry()).any(heeds) {
        return None;
    }
    let message = "no verdict heeds what the upstream says of waiting";
    Some(
        Diagnostic::warning("unused_delay_sources", message)
            .at(place, "read in vain")
            .help("write `server_delay` or `after: retry_after` in a retry, or remove the headers"),
    )
}

struct WaitLint<'a> {
    loaded: &'a Loaded,
    verdict: &'a Verdict,
    id: VerdictId,
    /// The place of the compensation's kind.
    kind: Range<usize>,
}

impl WaitLint<'_> {
    /// The value of a key of the compensation, if it is written.
    fn written(&self, key: &str) -> Option<Range<usize>> {
        self.loaded.places.then(self.id, &[key])
    }

    fn limits(&self) -> &Limits {
        &self.loaded.playbook.limits
    }

    fn beyond_attempts(&self, retry: &Retry, waits: &Range<usize>) -> Option<Diagnostic> {
        let allowed = self.limits().max_attempts.saturating_sub(1);
        if retry.max_retries <= allowed {
            return None;
        }
        let message = format!(
            "`{}` allows {} retries, but `max_attempts: {}` leaves {allowed}",
            self.verdict.name,
            retry.max_retries,
            self.limits().max_attempts
        );
        let place = self.written("max_retries").unwrap_or_else(|| waits.clone());
        Some(self.with_limit(Diagnostic::warning("retries_beyond_attempts", message).at(place, "more than the limit")))
    }

    fn refreshes(&self, refresh: &Refresh) -> Option<Diagnostic> {
        let allowed = self.limits().max_attempts.saturating_sub(1);
        if refresh.then == AfterRefresh::Abort || refresh.max_refreshes <= allowed {
            return None;
        }
        let message = format!(
            "`{}` allows {} refreshes, but `max_attempts: {}` leaves {allowed}",
            self.verdict.name,
            refresh.max_refreshes,
            self.limits().max_attempts
        );
        let place = self.written("max_refreshes").unwrap_or_else(|| self.kind.clone());
        Some(self.with_limit(Diagnostic::warning("retries_beyond_attempts", message).at(place, "more than the limit")))
    }

    fn with_limit(&self, diagnostic: Diagnostic) -> Diagnostic {
        let diagnostic = diagnostic.help("raise `limits.max_attempts`, or retry less often");
        match self.loaded.places.limit(LimitKind::MaxAttempts) {
            Some(limit) => diagnostic.at(limit, "the limit"),
            None => diagnostic,
        }
    }

    fn beyond_deadline(&self, retry: &Retry, waits: &Range<usize>) -> Option<Diagnostic> {
        let deadline = self.limits().deadline?;
        // A formula without a number of retries leaves it to the deadline to end them.
        let written = self.written("max_retries").is_some() || matches!(retry.backoff, Backoff::Listed(_));
        let allowed = if written { self.limits().max_attempts.saturating_sub(1).min(retry.max_retries) } else { 1 };
        let mut sum = Duration::ZERO;
        for nth in 0..allowed {
            sum = sum.plus(wait_range(&retry.backoff, nth + 1).0);
            if sum > deadline {
                let message = format!(
                    "retry {} of `{}` can never start: the waits before it are {sum} ms, the deadline {deadline} ms",
                    nth + 1,
                    self.verdict.name
                );
                let diagnostic = Diagnostic::warning("backoff_beyond_deadline", message)
                    .at(waits.clone(), "waits longer than the deadline")
                    .help("shorten the waits, or raise `limits.deadline_ms`");
                return Some(match self.loaded.places.limit(LimitKind::Deadline) {
                    Some(limit) => diagnostic.at(limit, "the deadline"),
                    None => diagnostic,
                });
            }
        }
        None
    }

    /// A first attempt, its timeout if the verdict means one, and the shortest wait leave no time for a retry.
    fn no_retry_fits(&self, retry: &Retry, waits: &Range<usize>) -> Option<Diagnostic> {
        let limits = self.limits();
        let wait = match retry.server_delay.mode {
            ServerDelayMode::Ignore | ServerDelayMode::AtLeast | ServerDelayMode::Window { .. } => {
                wait_range(&retry.backoff, 1).0
            }
            _ => Duration::ZERO, // the upstream may wish a shorter one
        };
        let timeout = self.timeout().unwrap_or_default();
        let elapsed = limits.call_timeout.map_or(timeout, |end| end.min(timeout));
        if first_retry_fits(limits, elapsed, wait) {
            return None;
        }
        let name = &self.verdict.name;
        let message = format!("no retry of `{name}` can start: an attempt takes {elapsed} ms, and the wait {wait} ms");
        let diagnostic = Diagnostic::warning("deadline_leaves_no_retry", message)
            .at(waits.clone(), "never waited")
            .help("raise the limit, or shorten the timeouts of the tools or the waits");
        let without_end = Limits { call_timeout: None, ..*limits };
        let kind = match first_retry_fits(&without_end, elapsed, wait) {
            true => LimitKind::CallTimeout,
            false => LimitKind::Deadline,
        };
        let limit = self.loaded.places.limit(kind);
        Some(limit.into_iter().fold(diagnostic, |diagnostic, limit| diagnostic.at(limit, "the limit")))
    }

    /// The shortest timeout of a tool, if only timeouts have the verdict.
    fn timeout(&self) -> Option<Duration> {
        let playbook = &self.loaded.playbook;
        let mut rules = playbook.rules.iter().filter(|rule| playbook.verdict(rule.verdict).name == self.verdict.name);
        let is_timeout = |rule: &Rule| rule.when.texts(ConditionKind::Kind) == ["timeout"];
        let otherwise = playbook.verdict(playbook.otherwise).name == self.verdict.name;
        if otherwise || !rules.all(is_timeout) {
            return None;
        }
        let undeclared = (!playbook.refuses_unknown_tools).then_some(DEFAULT_TIMEOUT);
        playbook.tools.rows().iter().map(|row| row.facts.timeout).chain(undeclared).min()
    }

    /// Lints of the list of waits and of its length.
    fn list(&self, retry: &Retry, waits: &Range<usize>) -> Option<Diagnostic> {
        let Backoff::Listed(list) = &retry.backoff else { return None };
        let name = &self.verdict.name;
        let at = |diagnostic: Diagnostic, label: &str| Some(diagnostic.at(waits.clone(), label.to_owned()));
        if list.len() > retry.max_retries as usize {
            let message = format!("`{name}` has {} waits for {} retries", list.len(), retry.max_retries);
            let help = "shorten the list, or raise `max_retries`";
            return at(Diagnostic::warning("backoff_too_long", message).help(help), "the last waits are never used");
        }
        if list.windows(2).any(|pair| pair[1] < pair[0]) {
            let message = format!("the waits of `{name}` get shorter");
            let help = "an upstream in trouble needs more time, not less: sort the list";
            return at(Diagnostic::warning("backoff_shrinks", message).help(help), "not in ascending order");
        }
        if self.written("max_retries").is_some() && list.windows(2).last().is_some_and(|pair| pair[0] == pair[1]) {
            let message = format!("the last wait of `{name}` is written twice");
            let help = "the last wait repeats for further retries up to `max_retries`: write it once";
            return at(Diagnostic::warning("backoff_repeats", message).help(help), "the last one is redundant");
        }
        None
    }

    /// A wait that jitter lengthens over its cap.
    fn jitter(&self, retry: &Retry, waits: &Range<usize>) -> Option<Diagnostic> {
        let Backoff::Formula(Formula { max: Some(max), .. }) = &retry.backoff else { return None };
        let (_, longest) = wait_range(&retry.backoff, retry.max_retries);
        if longest <= *max {
            return None;
        }
        let message = format!("a wait of `{}` can take {longest} ms, more than its `max_ms: {max}`", self.verdict.name);
        let help = "write `cap: after_jitter` if no wait may be longer";
        let label = "the jitter comes after the cap";
        Some(Diagnostic::warning("jitter_beyond_cap", message).at(waits.clone(), label).help(help))
    }

    /// Stops at faults of headers, where no header is read.
    fn faults(&self, retry: &Retry) -> Option<Diagnostic> {
        let stops = retry.server_delay.stops_at != WishFaults::default();
        let is_read = !self.loaded.playbook.server_delay_sources.is_empty();
        let place = self.written("server_delay").filter(|_| stops && !is_read)?;
        let message = format!("`{}` stops at a fault of a header, but no header is read", self.verdict.name);
        Some(
            Diagnostic::warning("unread_headers", message)
                .at(place, "never stops so")
                .help("list the headers in `server_delay_sources`"),
        )
    }

    fn max_wait(&self, retry: &Retry) -> Option<Diagnostic> {
        let place = self.written("max_wait_ms").filter(|_| retry.server_delay.mode == ServerDelayMode::Ignore)?;
        let message = format!("`max_wait_ms` of `{}` is never used", self.verdict.name);
        Some(
            Diagnostic::warning("unused_max_wait", message)
                .at(place, "only `after: retry_after` uses it")
                .help("write `after: retry_after`, or remove `max_wait_ms`"),
        )
    }
}
