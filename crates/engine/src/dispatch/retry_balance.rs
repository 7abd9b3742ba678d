//! The state of one retry budget: what is left for retries. Time is an argument.

use super::window::TimeBuckets;
use crate::playbook::{BucketAlign, DepositRounding, Ratio, Refund, RetryBudgetKind, TimeWindow, TokenBucket, Tokens};
use crate::time::{Duration, Instant};

/// What a retry budget has left. A new one is full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RetryBalance {
    /// The tokens that a full token bucket or throttle would have more.
    missing: Tokens,
    /// What a token bucket saved up, and is no whole token or does not fit.
    saved: Tokens,
    /// Until when the refill by time is saved up; none before the first retry or success.
    refilled_until: Option<Instant>,
    /// What calls deposit and retries withdraw.
    flows: TimeBuckets<Flow>,
    load: RetryLoad,
}

/// The calls that share a budget now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RetryLoad {
    /// Calls that have started and not ended.
    pub calls: u32,
    /// Retries that are scheduled or out.
    pub retries: u32,
}

/// What came and went in one bucket of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Flow {
    deposits: u64,
    withdrawals: u64,
}

impl RetryBalance {
    /// A token bucket or a throttle with this balance; a balance of another kind is full.
    pub fn with_balance(kind: &RetryBudgetKind, balance: Tokens) -> RetryBalance {
        RetryBalance { missing: most(kind).minus(balance), ..RetryBalance::default() }
    }

    /// The same part of another budget's tokens, when a throttle is replaced (gRPC).
    #[must_use]
    pub fn carried_over(&self, from: &RetryBudgetKind, to: &RetryBudgetKind) -> RetryBalance {
        let part = u128::from(self.missing.thousandths()) * u128::from(most(to).thousandths());
        let missing = saturated(part.checked_div(most(from).thousandths().into()).unwrap_or_default());
        RetryBalance { missing: Tokens::from_thousandths(missing), ..self.clone() }
    }

    /// Sets the calls that share it.
    pub const fn set_load(&mut self, load: RetryLoad) {
        self.load = load;
    }

    /// A call starts.
    pub fn on_call(&mut self, kind: &RetryBudgetKind, now: Instant) {
        self.load.calls = self.load.calls.saturating_add(1);
        if let RetryBudgetKind::DepositWithdraw { ttl, retry_percent, rounding, .. } = *kind {
            let flow = self.flows.at(&leak(ttl), now);
            flow.deposits = flow.deposits.saturating_add(Amounts::new(retry_percent, rounding).deposit);
        }
    }

    /// A call ends.
    pub const fn on_call_end(&mut self) {
        self.load.calls = self.load.calls.saturating_sub(1);
    }

    /// The answer to a retry came.
    pub const fn on_retry_end(&mut self) {
        self.load.retries = self.load.retries.saturating_sub(1);
    }

    /// A scheduled retry does not start: its cost goes back.
    pub fn give_back(&mut self, cost: Tokens) {
        self.on_retry_end();
        self.missing = self.missing.minus(cost);
    }

    /// An attempt failed in a way that a throttle counts.
    pub fn on_failure(&mut self, kind: &RetryBudgetKind) {
        if let RetryBudgetKind::Throttle { max_tokens, .. } = kind {
            self.missing = self.missing.plus(Tokens::ONE).min(*max_tokens);
        }
    }

    /// A call succeeded. `last_cost`: what its last retry took; none: its first attempt succeeded.
    pub fn on_success(&mut self, kind: &RetryBudgetKind, now: Instant, last_cost: Option<Tokens>) {
        match kind {
            RetryBudgetKind::TokenBucket(bucket) => {
                let credit = match (last_cost, bucket.refund) {
                    (Some(cost), Refund::LastCost) => cost,
                    (Some(_), Refund::None) => Tokens::ZERO,
                    (None, _) => bucket.no_retry_credit,
                };
                self.missing = self.missing.minus(credit);
                self.refill(bucket, now, bucket.success_credit);
            }
            RetryBudgetKind::Throttle { token_ratio, .. } => self.missing = self.missing.minus(*token_ratio),
            RetryBudgetKind::DepositWithdraw { .. }
            | RetryBudgetKind::ConcurrencyRatio { .. }
            | RetryBudgetKind::InflightShare { .. } => {}
        }
    }

    /// Whether a retry of this cost may be scheduled now; without a cost, of the budget's own.
    pub fn may_retry(&self, kind: &RetryBudgetKind, now: Instant, cost: Option<Tokens>) -> bool {
        let RetryLoad { calls, retries } = self.load;
        match kind {
            RetryBudgetKind::TokenBucket(bucket) => self.left(kind, now) >= cost.unwrap_or(bucket.cost),
            RetryBudgetKind::Throttle { max_tokens, allow_above, .. } => {
                let left = u128::from(self.left(kind, now).thousandths()) * u128::from(Ratio::SCALE);
                left > u128::from(max_tokens.thousandths()) * u128::from(allow_above.0)
            }
            RetryBudgetKind::DepositWithdraw { .. } => self.left(kind, now) > Tokens::ZERO,
            RetryBudgetKind::ConcurrencyRatio { budget_percent, min_retry_concurrency } => {
                let part = u128::from(budget_percent.0) * u128::from(calls) / (100 * u128::from(Ratio::SCALE));
                u128::from(retries) < part.max(u128::from(*min_retry_concurrency))
            }
            RetryBudgetKind::InflightShare { max_share, min_retry_concurrency } => {
                let part = u128::from(retries) * u128::from(Ratio::SCALE);
                retries < *min_retry_concurrency || part <= u128::from(max_share.0) * u128::from(calls)
            }
        }
    }

    /// Takes a retry from the budget, if it may be scheduled now, and says what to give back.
    pub fn take(&mut self, kind: &RetryBudgetKind, now: Instant, cost: Option<Tokens>) -> Option<Tokens> {
        if !self.may_retry(kind, now, cost) {
            return None;
        }
        self.load.retries = self.load.retries.saturating_add(1);
        match *kind {
            RetryBudgetKind::TokenBucket(bucket) => {
                let cost = cost.unwrap_or(bucket.cost);
                self.refill(&bucket, now, Tokens::ZERO);
                self.missing = self.missing.plus(cost);
                Some(cost)
            }
            RetryBudgetKind::DepositWithdraw { ttl, retry_percent, rounding, .. } => {
                let flow = self.flows.at(&leak(ttl), now);
                flow.withdrawals = flow.withdrawals.saturating_add(Amounts::new(retry_percent, rounding).withdrawal);
                Some(Tokens::ZERO)
            }
            RetryBudgetKind::Throttle { .. }
            | RetryBudgetKind::ConcurrencyRatio { .. }
            | RetryBudgetKind::InflightShare { .. } => Some(Tokens::ZERO),
        }
    }

    /// The tokens of a token bucket or a throttle; the retries that deposits pay for. Nothing for the other kinds.
    pub fn left(&self, kind: &RetryBudgetKind, now: Instant) -> Tokens {
        match *kind {
            RetryBudgetKind::TokenBucket(bucket) => {
                let (missing, _) = self.filled(&bucket, now, Tokens::ZERO);
                bucket.capacity.minus(missing)
            }
            RetryBudgetKind::Throttle { max_tokens, .. } => max_tokens.minus(self.missing),
            RetryBudgetKind::DepositWithdraw { ttl, min_retries_per_sec, retry_percent, rounding } => {
                let withdrawal = Amounts::new(retry_percent, rounding).withdrawal;
                let seconds = ttl.as_millis() / 1_000;
                let reserve = u128::from(min_retries_per_sec) * u128::from(seconds) * u128::from(withdrawal);
                let (deposits, withdrawals) = self.flows.alive(&leak(ttl), now).fold((0, 0), |(into, out), flow| {
                    (into + u128::from(flow.deposits), out + u128::from(flow.withdrawals))
                });
                let retries = (reserve + deposits).saturating_sub(withdrawals) / u128::from(withdrawal);
                Tokens::whole(u32::try_from(retries).unwrap_or(u32::MAX))
            }
            RetryBudgetKind::ConcurrencyRatio { .. } | RetryBudgetKind::InflightShare { .. } => Tokens::ZERO,
        }
    }

    /// What a token bucket saved up until its last retry or success, and is no whole token or does not fit.
    pub const fn saved(&self) -> Tokens {
        self.saved
    }

    fn refill(&mut self, bucket: &TokenBucket, now: Instant, more: Tokens) {
        (self.missing, self.saved) = self.filled(bucket, now, more);
        if bucket.refill_per_sec > Tokens::ZERO {
            self.refilled_until = Some(now);
        }
    }

    /// What is missing and saved after the refill by time and `more`. Whole tokens move as soon as they fit; what does not
    /// fit is kept, up to the capacity (smithy-rs).
    fn filled(&self, bucket: &TokenBucket, now: Instant, more: Tokens) -> (Tokens, Tokens) {
        // Both ends are rounded, so that many short steps give as much as a long one.
        let until =
            |end: Instant| u128::from(bucket.refill_per_sec.thousandths()) * u128::from(end.as_micros()) / 1_000_000;
        let refill = until(now).saturating_sub(self.refilled_until.map_or(until(now), until));
        let credit = more.plus(Tokens::from_thousandths(saturated(refill)));
        let saved = self.saved.plus(credit).min(bucket.capacity);
        let moved = saved.floor().min(self.missing);
        (self.missing.minus(moved), saved.minus(moved))
    }
}

/// The tokens of a full budget.
const fn most(kind: &RetryBudgetKind) -> Tokens {
    match kind {
        RetryBudgetKind::TokenBucket(TokenBucket { capacity: most, .. })
        | RetryBudgetKind::Throttle { max_tokens: most, .. } => *most,
        RetryBudgetKind::DepositWithdraw { .. }
        | RetryBudgetKind::ConcurrencyRatio { .. }
        | RetryBudgetKind::InflightShare { .. } => Tokens::ZERO,
    }
}

/// How deposits and withdrawals are forgotten: in ten buckets, each from its first event.
const fn leak(ttl: Duration) -> TimeWindow {
    TimeWindow { span: ttl, buckets: 10, align: BucketAlign::FirstEvent }
}

fn saturated(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// What a call deposits and a retry withdraws.
struct Amounts {
    deposit: u64,
    withdrawal: u64,
}

impl Amounts {
    fn new(retry_percent: Ratio, rounding: DepositRounding) -> Amounts {
        let deposit = match rounding {
            _ if retry_percent.0 == 0 => return Amounts { deposit: 0, withdrawal: 1 },
            DepositRounding::Tower if retry_percent <= Ratio::ONE => 1,
            DepositRounding::Tower | DepositRounding::Finagle => 1_000,
        };
        let withdrawal = deposit * u64::from(Ratio::SCALE) / u64::from(retry_percent.0);
        Amounts { deposit, withdrawal: withdrawal.max(1) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn tokens(text: &str) -> Tokens {
        Tokens::parse(text).unwrap()
    }

    fn bucket() -> TokenBucket {
        TokenBucket {
            capacity: tokens("500"),
            cost: tokens("14"),
            no_retry_credit: tokens("1"),
            refund: Refund::LastCost,
            success_credit: Tokens::ZERO,
            refill_per_sec: Tokens::ZERO,
        }
    }

    fn throttle(max_tokens: &str, token_ratio: &str) -> RetryBudgetKind {
        let allow_above = Ratio(500_000);
        RetryBudgetKind::Throttle { max_tokens: tokens(max_tokens), token_ratio: tokens(token_ratio), allow_above }
    }

    fn deposits(min_retries_per_sec: u32, percent: &str, rounding: DepositRounding) -> RetryBudgetKind {
        RetryBudgetKind::DepositWithdraw {
            ttl: Duration::from_millis(10_000),
            min_retries_per_sec,
            retry_percent: Ratio::parse(percent).unwrap(),
            rounding,
        }
    }

    /// The retries that it allows at a moment, one after another.
    fn retries(balance: &mut RetryBalance, kind: &RetryBudgetKind, now: u64) -> usize {
        std::iter::from_fn(|| balance.take(kind, at(now), None)).take(10_000).count()
    }

    #[test]
    fn a_retry_takes_its_cost_and_a_success_gives_the_last_one_back() {
        let kind = RetryBudgetKind::TokenBucket(bucket());
        let mut balance = RetryBalance::default();
        let left = |balance: &RetryBalance| balance.left(&kind, at(0)).to_string();
        assert_eq!(balance.take(&kind, at(0), None), Some(tokens("14")));
        assert_eq!(balance.take(&kind, at(0), Some(tokens("5"))), Some(tokens("5")));
        assert_eq!(left(&balance), "481");
        balance.on_success(&kind, at(0), Some(tokens("5")));
        assert_eq!(left(&balance), "486");
        balance.on_success(&kind, at(0), None);
        assert_eq!(left(&balance), "487");
        balance.on_failure(&kind);
        assert_eq!(left(&balance), "487");
        balance.give_back(tokens("20"));
        assert_eq!(left(&balance), "500", "never more than the capacity");
        let kind = RetryBudgetKind::TokenBucket(TokenBucket { refund: Refund::None, ..bucket() });
        balance.take(&kind, at(0), None);
        balance.on_success(&kind, at(0), Some(tokens("14")));
        assert_eq!(left(&balance), "486");
    }

    #[test]
    fn a_retry_that_costs_more_than_is_left_takes_nothing() {
        for (left, allowed) in [("14", 1), ("13.999", 0), ("0", 0), ("28", 2)] {
            let kind = RetryBudgetKind::TokenBucket(bucket());
            let mut balance = RetryBalance::with_balance(&kind, tokens(left));
            assert_eq!(retries(&mut balance, &kind, 0), allowed, "{left}");
            assert!(!balance.may_retry(&kind, at(0), None));
            assert!(balance.may_retry(&kind, at(0), Some(Tokens::ZERO)));
        }
        let kind = RetryBudgetKind::TokenBucket(TokenBucket { capacity: Tokens::ZERO, ..bucket() });
        assert_eq!(RetryBalance::default().take(&kind, at(0), None), None);
    }

    #[test]
    fn parts_of_tokens_are_saved_until_they_are_whole_and_fit() {
        let bucket = TokenBucket { capacity: tokens("10"), success_credit: tokens("0.4"), ..bucket() };
        let kind = RetryBudgetKind::TokenBucket(TokenBucket { no_retry_credit: Tokens::ZERO, ..bucket });
        let mut balance = RetryBalance::with_balance(&kind, Tokens::ZERO);
        let after = [1, 2, 3].map(|_| {
            balance.on_success(&kind, at(0), None);
            (balance.left(&kind, at(0)).to_string(), balance.saved().to_string())
        });
        assert_eq!(
            after.each_ref().map(|(left, saved)| (&**left, &**saved)),
            [("0", "0.4"), ("0", "0.8"), ("1", "0.2")]
        );
        let mut balance = RetryBalance::default();
        (0..40).for_each(|_| balance.on_success(&kind, at(0), None));
        assert_eq!((balance.left(&kind, at(0)), balance.saved()), (tokens("10"), tokens("10")));
    }

    #[test]
    fn time_refills_from_the_first_use() {
        let bucket =
            TokenBucket { capacity: tokens("10"), cost: tokens("4"), refill_per_sec: tokens("0.5"), ..bucket() };
        let kind = RetryBudgetKind::TokenBucket(bucket);
        let mut balance = RetryBalance::default();
        assert_eq!(retries(&mut balance, &kind, 60_000), 2);
        let left = |now| balance.left(&kind, at(now)).to_string();
        assert_eq!([61_999, 62_000, 63_999, 64_000].map(left), ["2", "3", "3", "4"]);
        assert_eq!(balance.take(&kind, at(63_999), None), None);
        assert_eq!(balance.take(&kind, at(64_000), None), Some(tokens("4")));
        assert_eq!(balance.left(&kind, at(1_000_000)), tokens("10"));
    }

    #[test]
    fn a_throttle_allows_retries_above_its_part_of_the_most_tokens() {
        let kind = throttle("4", "1.6");
        let mut balance = RetryBalance::default();
        let mut after = |fails: bool| {
            if fails {
                balance.on_failure(&kind)
            } else {
                balance.on_success(&kind, at(0), None)
            }
            (balance.left(&kind, at(0)).to_string(), balance.may_retry(&kind, at(0), None))
        };
        let expected = [
            (true, "3", true),
            (false, "4", true),
            (true, "3", true),
            (true, "2", false),
            (true, "1", false),
            (true, "0", false),
            (true, "0", false),
            (false, "1.6", false),
            (false, "3.2", true),
        ];
        for (fails, left, allowed) in expected {
            assert_eq!(after(fails), (left.to_owned(), allowed));
        }
    }

    #[test]
    fn a_throttle_that_is_replaced_keeps_its_part() {
        let (from, to) = (throttle("4", "1"), throttle("10", "3"));
        let mut balance = RetryBalance::default();
        balance.on_failure(&from);
        assert_eq!(balance.carried_over(&from, &to).left(&to, at(0)), tokens("7.5"));
        assert_eq!(balance.carried_over(&deposits(1, "0.2", DepositRounding::Tower), &to), RetryBalance::default());
    }

    #[test]
    fn calls_pay_for_retries_and_a_reserve_does_for_the_first() {
        let kind = deposits(2, "0.2", DepositRounding::Finagle);
        let mut balance = RetryBalance::default();
        assert_eq!(retries(&mut balance, &kind, 0), 20, "2 a second for 10 s");
        (0..9).for_each(|_| balance.on_call(&kind, at(0)));
        assert_eq!(retries(&mut balance, &kind, 0), 1);
        balance.on_call(&kind, at(0));
        assert_eq!(retries(&mut balance, &kind, 0), 1);
        // Withdrawals are forgotten too: the reserve is whole again.
        assert_eq!([9_999, 10_000].map(|now| balance.left(&kind, at(now))), [tokens("0"), tokens("20")]);
        let nothing = deposits(0, "0", DepositRounding::Finagle);
        balance.on_call(&nothing, at(20_000));
        assert_eq!(retries(&mut balance, &nothing, 20_000), 0);
    }

    #[test]
    fn the_two_roundings_differ_between_a_half_and_one() {
        let allowed = |percent: &str, rounding| {
            let kind = deposits(0, percent, rounding);
            let mut balance = RetryBalance::default();
            (0..100).for_each(|_| balance.on_call(&kind, at(0)));
            retries(&mut balance, &kind, 0)
        };
        for (percent, finagle, tower) in [("0.2", 20, 20), ("0.75", 75, 100), ("1", 100, 100), ("10", 1_000, 1_000)] {
            let both = (allowed(percent, DepositRounding::Finagle), allowed(percent, DepositRounding::Tower));
            assert_eq!(both, (finagle, tower), "{percent}");
        }
    }

    #[test]
    fn retries_at_once_are_a_part_of_the_calls_at_once() {
        let ratio = |percent: &str| RetryBudgetKind::ConcurrencyRatio {
            budget_percent: Ratio::parse(percent).unwrap(),
            min_retry_concurrency: 3,
        };
        let share = RetryBudgetKind::InflightShare { max_share: Ratio(200_000), min_retry_concurrency: 3 };
        for (kind, calls, retries, allowed) in [
            (ratio("20"), 0, 2, true),
            (ratio("20"), 0, 3, false),
            (ratio("20"), 19, 3, false),
            (ratio("20"), 20, 3, true),
            (ratio("20"), 20, 4, false),
            (ratio("100"), 20, 4, true),
            (share, 0, 2, true),
            (share, 0, 3, false),
            (share, 15, 3, true), // at the share, not above it
            (share, 14, 3, false),
        ] {
            let mut balance = RetryBalance::default();
            balance.set_load(RetryLoad { calls, retries });
            assert_eq!(balance.may_retry(&kind, at(0), None), allowed, "{kind:?}, {retries} of {calls}");
        }
        let (kind, mut balance) = (ratio("20"), RetryBalance::default());
        assert_eq!(retries(&mut balance, &kind, 0), 3);
        balance.on_retry_end();
        assert_eq!(retries(&mut balance, &kind, 0), 1);
        balance.give_back(Tokens::ZERO);
        assert_eq!(retries(&mut balance, &kind, 0), 1);
        (0..20).for_each(|_| balance.on_call(&kind, at(0)));
        assert_eq!(retries(&mut balance, &kind, 0), 1);
        (0..20).for_each(|_| balance.on_call_end());
        balance.on_retry_end();
        assert_eq!(retries(&mut balance, &kind, 0), 0);
    }

    /// A token bucket as plain numbers: thousandths of tokens.
    fn plain_left(start: u64, steps: &[(u64, bool)], bucket: &TokenBucket) -> (u64, u64) {
        let (mut left, mut taken) = (start, 0);
        let capacity = bucket.capacity.thousandths();
        for (cost, succeeds) in steps {
            let cost = cost * 1_000;
            if cost > left {
                continue;
            }
            (left, taken) = (left - cost, taken + 1);
            if *succeeds {
                left = (left + cost).min(capacity);
            }
        }
        (left, taken)
    }

    proptest! {
        #[test]
        fn a_token_bucket_never_gives_more_than_it_has(steps in vec((0_u64..40, any::<bool>()), 0..60), start in 0_u32..100) {
            let bucket = TokenBucket { capacity: tokens("100"), ..bucket() };
            let kind = RetryBudgetKind::TokenBucket(bucket);
            let mut balance = RetryBalance::with_balance(&kind, Tokens::whole(start));
            let mut taken = 0;
            for (cost, succeeds) in &steps {
                let cost = Tokens::from_thousandths(cost * 1_000);
                if let Some(cost) = balance.take(&kind, at(0), Some(cost)) {
                    taken += 1;
                    if *succeeds {
                        balance.on_success(&kind, at(0), Some(cost));
                    }
                }
            }
            let left = balance.left(&kind, at(0)).thousandths();
            prop_assert_eq!((left, taken), plain_left(u64::from(start) * 1_000, &steps, &bucket));
        }

        #[test]
        fn many_short_steps_refill_as_much_as_a_long_one(steps in vec(1_u64..3_000_000, 1..40), rate in 1_u64..5_000) {
            let bucket = TokenBucket {
                capacity: Tokens::whole(1_000_000),
                cost: Tokens::ZERO,
                refill_per_sec: Tokens::from_thousandths(rate),
                ..bucket()
            };
            let kind = RetryBudgetKind::TokenBucket(bucket);
            let start = RetryBalance { refilled_until: Some(Instant::ZERO), ..RetryBalance::with_balance(&kind, Tokens::ZERO) };
            let (mut often, mut now) = (start.clone(), Instant::ZERO);
            for step in steps {
                now = now.plus(Duration::from_micros(step));
                often.take(&kind, now, None);
            }
            let (mut once, kept) = (start, |balance: &RetryBalance| balance.left(&kind, now).plus(balance.saved()));
            once.take(&kind, now, None);
            prop_assert_eq!(kept(&often), kept(&once));
        }

        /// Deposits and withdrawals, against a list of all of them that is looked at again. A second is one bucket.
        #[test]
        fn deposits_and_withdrawals_are_forgotten_as_in_a_list(steps in vec((0_u64..4, 0_u32..9, 0_u32..4), 0..30)) {
            let kind = deposits(1, "0.5", DepositRounding::Tower);
            let (mut balance, mut all, mut now) = (RetryBalance::default(), Vec::new(), 0);
            for (wait, calls, wanted) in steps {
                now += wait;
                for _ in 0..calls {
                    balance.on_call(&kind, at(now * 1_000));
                    all.push((now, 1_i64));
                }
                for _ in 0..wanted {
                    let sum: i64 = all.iter().filter(|(at, _)| now - at < 10).map(|(_, amount)| amount).sum();
                    let allowed = sum + 20 >= 2;
                    prop_assert_eq!(balance.take(&kind, at(now * 1_000), None).is_some(), allowed);
                    all.extend(allowed.then_some((now, -2)));
                }
            }
        }
    }
}
