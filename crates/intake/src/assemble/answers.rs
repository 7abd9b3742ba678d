//! The order of a call's answers: by the numbers of their attempts, else by their times if all have one, else by lines.

use crate::call::{AttemptCounts, is_refused};
use playproof_engine::call::{AnswerTo, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::ids::AttemptNo;

/// Drops an impossible time. The time still distinguishes the answer from others of its call, by its line hash.
pub fn drop_time(answer: &mut RecordedAnswer) {
    let Some(at) = answer.at.take() else { return };
    if answer.line_hash == 0 {
        let bits = at.as_micros() % u64::from(u32::MAX);
        answer.line_hash = u32::try_from(bits).unwrap_or_default().max(1);
    }
}

/// Whether one of a call's answers came late: this one, because it says so, or one of two answers to one attempt that say
/// different things, because an attempt ends once. Of those, the later one by their times, else by their lines. Counts it
/// if its number may be wrong, so that it is an attempt more, which may have acted.
pub fn set_late_apart(
    call: &mut RecordedCall,
    counts: &mut AttemptCounts,
    highest_attempt: u32,
    answer: &mut RecordedAnswer,
) -> bool {
    let Some(number) = answer.attempt.filter(|&number| answer.to == AnswerTo::Attempt && number <= highest_attempt)
    else {
        return answer.to == AnswerTo::Late;
    };
    let known = call.attempts().find(|(known, known_answer)| known.get() == number && !is_copy(known_answer, answer));
    let Some((_, known)) = known else { return false };
    let is_first = answer.at.zip(known.at).is_some_and(|(new, known)| new < known);
    let place = call.answers.iter().position(|seen| is_first && std::ptr::eq(seen, known));
    let late = place.and_then(|place| call.answers.get_mut(place)).unwrap_or(answer);
    (late.to, late.attempt) = (AnswerTo::Late, Some(number));
    counts.ambiguous += u32::from(!is_refused(&late.reply));
    true
}

/// Whether two answers with one number say the same. Logs may be shipped twice, and a copy may have a time of its own.
fn is_copy(one: &RecordedAnswer, other: &RecordedAnswer) -> bool {
    one.line_hash == other.line_hash && one.reply == other.reply
}

/// Whether an answer that came late says what was answered in time, as far as an import told the two apart: a copy, or one
/// more that is equal.
pub fn is_copy_of_attempt(call: &RecordedCall, late: &RecordedAnswer) -> bool {
    let mut attempts = call.attempts();
    late.line_hash != 0 && attempts.any(|(number, seen)| late.attempt == Some(number.get()) && is_copy(seen, late))
}

/// Takes away the answer that the work of an attempt goes on, if `answer` says how it ended.
pub fn take_unfinished(call: &mut RecordedCall, answer: &RecordedAnswer) -> Option<RecordedAnswer> {
    if call.answers.is_empty() || answer.to != AnswerTo::Attempt || answer.inferred {
        return None; // nearly always
    }
    let is_same = |number: AttemptNo| answer.attempt.is_none_or(|attempt| attempt == number.get());
    let (_, seen) = call.attempts().last().filter(|(number, _)| is_same(*number))?;
    let is_unfinished = matches!(seen.reply, Reply::Unfinished(_)) && !seen.is_duplicate_of(answer);
    let index = call.answers.iter().position(|other| is_unfinished && std::ptr::eq(other, seen))?;
    Some(call.answers.remove(index))
}

/// Where an answer goes among those of its call: attempts are in the order of their numbers, in whatever order their
/// answers came. None: the attempt has an answer already, or the line is repeated.
pub fn insert_index(call: &RecordedCall, highest_attempt: u32, answer: &RecordedAnswer) -> Option<usize> {
    let end = Some(call.answers.len());
    let before_late = |attempt| {
        call.answers.iter().position(|seen| (seen.to, seen.attempt) == (AnswerTo::Late, Some(attempt))).or(end)
    };
    match (answer.to, answer.attempt) {
        // Logs may be shipped twice, so an equal line is a duplicate; one that differs, even in its time alone, is another
        // attempt. A joined resend is always an attempt.
        (_, None) if !answer.inferred && call.answers.iter().any(|seen| seen.is_duplicate_of(answer)) => None,
        (AnswerTo::Attempt, None) => index_by_time(call, answer).or(end),
        (_, None) => end,
        (AnswerTo::Attempt, Some(attempt)) if attempt > highest_attempt => before_late(attempt),
        (AnswerTo::Attempt, Some(attempt)) => {
            let later = call.attempts().find(|(number, _)| number.get() >= attempt);
            match later {
                Some((number, _)) if number.get() == attempt => None,
                Some((_, later)) => call.answers.iter().position(|seen| std::ptr::eq(seen, later)),
                None => before_late(attempt),
            }
        }
        (AnswerTo::Late, _) if is_copy_of_attempt(call, answer) => None,
        (other, attempt) => {
            let is_seen = |seen: &RecordedAnswer| seen.to == other && seen.attempt == attempt && is_copy(seen, answer);
            let seen = call.answers.iter().any(is_seen);
            if seen { None } else { end }
        }
    }
}

/// Puts attempts without numbers in the order of their lines, because another one has no time, or a number.
pub fn order_by_lines(call: &mut RecordedCall, counts: &mut AttemptCounts) {
    let attempts = || call.answers.iter().filter(|seen| seen.to == AnswerTo::Attempt);
    if attempts().nth(1).is_some() && attempts().all(|seen| seen.attempt.is_none() && !seen.inferred) {
        call.answers.sort_by_key(|answer| answer.place.line); // the order of other answers, too
        let last = call.answers.iter().rfind(|seen| seen.to == AnswerTo::Attempt);
        counts.failed_on = last.filter(|last| last.reply != Reply::Ok).map_or(0, |last| last.place.line);
    }
}

/// Where an answer goes among attempts that have times and no numbers: before the first later one.
fn index_by_time(call: &RecordedCall, answer: &RecordedAnswer) -> Option<usize> {
    let at = answer.at.filter(|_| !answer.inferred)?;
    let attempts = || call.answers.iter().filter(|seen| seen.to == AnswerTo::Attempt);
    if attempts().any(|seen| seen.inferred || seen.attempt.is_some() || seen.at.is_none()) {
        return None;
    }
    call.answers.iter().position(|seen| seen.to == AnswerTo::Attempt && seen.at > Some(at))
}
