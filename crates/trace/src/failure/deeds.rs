//! Whether words tell of a deed that was done, or say that nothing was. Has the participles of deeds, and those that look like
//! one and are none. What is a failure is left to others.

use std::sync::LazyLock;

use super::excerpt::cut;
use super::other_languages;
use super::patterns::{self, LazyPattern};
use super::tool_name::words;

/// Participles of deeds, wherever they stand.
const DEEDS: &str = "added|applied|booked|captured|changed|charged|committed|completed|copied|created|deleted|delivered|emailed|enqueued|executed|forwarded|imported|inserted|issued|made|mailed|migrated|moved|paid|placed|posted|processed|published|pushed|queued|refunded|removed|saved|scheduled|sent|shipped|submitted|succeeded|transferred|updated|uploaded";

/// Participles of deeds that do not end in -ed.
const IRREGULAR: [&str; 9] = ["built", "done", "made", "paid", "put", "sent", "set", "underway", "written"];

/// Words like participles that tell of no deed: how things are, what was asked for, what came to nothing.
const NO_DEEDS: &str = "allowed attempted authenticated authorized based called configured deprecated enabled encountered errored exceeded exhausted expected failed forbidden ignored limited malformed missed named need needed occurred omitted permitted planned provided reached received requested required restricted retried skipped speed supported throttled timed unauthorized undefined unprocessed unsupported used wanted";

/// Participles of refusals: of a tool that is for it, they are its deed.
const REFUSED: &str = "aborted blocked canceled cancelled declined denied expired interrupted refused rejected";

/// Participles of what may have ended by itself. In the name of a field, they count what the call ended.
const ENDED: &str =
    "archived closed crashed deactivated disabled frozen killed locked revoked stopped suspended terminated";

fn is_one_of(list: &str, word: &str) -> bool {
    list.split([' ', '|']).any(|own| own == word)
}

/// Whether a word in small letters is the participle of a deed.
fn is_deed(word: &str) -> bool {
    let is_past = word.len() > 4 && word.ends_with("ed") && word.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_past || IRREGULAR.contains(&word)) && !is_no_deed(word)
}

fn is_no_deed(word: &str) -> bool {
    is_one_of(NO_DEEDS, word) || is_one_of(REFUSED, word)
}

/// Whether a word in small letters is the participle of what ends something.
pub(super) fn is_ending(word: &str) -> bool {
    word.ends_with(['d', 'n']) && (is_one_of(REFUSED, word) || is_one_of(ENDED, word))
}

/// Whether a clause tells of a deed and denies nothing: `request 7 created`. What ends things is a deed of the tool only.
fn tells_a_deed(clause: &str, tool: Option<&str>) -> bool {
    const NOT: &str = "already be cannot must never no nobody none not nothing should unless";
    let words = || clause.split([' ', '(', ')']).filter(|word| !word.is_empty()).map(str::to_ascii_lowercase);
    // Of a thing, these are done: `Payment received, the receipt is missing`.
    const OF_A_THING: &str = "authorized called configured enabled provided received requested";
    let denies = |word: String| {
        if is_one_of(OF_A_THING, &word) {
            return false;
        }
        let is_own = || is_ending(&word) && does(tool, &word);
        is_one_of(NOT, &word) || word.ends_with("n't") || (is_no_deed(&word) || is_ending(&word)) && !is_own()
    };
    // `Set a place` asks for it.
    let tells = |(at, word): (usize, String)| {
        let is_told = is_deed(&word) || is_ending(&word) || at > 0 && is_one_of(OF_A_THING, &word);
        is_told && (at > 0 || word.ends_with("ed"))
    };
    words().enumerate().any(tells) && !words().any(denies)
}

/// Whether a message tells a deed before its first colon or comma: `Order updated. Valid coupons: ...`.
pub(super) fn tells_a_deed_first(text: &str, tool: Option<&str>) -> bool {
    let end = [": ", ", ", ". ", "; "].iter().filter_map(|mark| text.find(mark)).min();
    let first = end.filter(|end| *end <= 80).and_then(|end| text.get(..end));
    first.is_some_and(|first| tells_a_deed(first, tool))
}

/// Whether a clause behind the first tells a deed: `deploy_app needs 3 minutes; started`.
pub(super) fn tells_a_deed_later(text: &str, tool: Option<&str>) -> bool {
    text.split([';', ':', '.', ',', '!', '\n', '—']).skip(1).any(|clause| tells_a_deed(clause, tool))
}

/// Whether the name of a field tells of something done: `rowsAffected`, `processed_count`, `steps_completed`.
pub(super) fn is_of_a_deed(field: &str) -> bool {
    const NO_COUNTS: &str = "at left limit put remaining set";
    let words = words(field);
    let is_done = |word: &String| is_deed(word) || is_one_of("progress success", word);
    words.iter().any(is_done) && !words.iter().any(|word| is_no_deed(word) || is_one_of(NO_COUNTS, word))
}

/// Whether a word, as the name of a field or the state of a thing, tells of a deed by itself.
pub(super) fn is_known_deed(word: &str) -> bool {
    is_one_of(DEEDS, word)
}

/// Whether a text begins with the word for what was done, and what it is of: `Confirmed. It cannot be cancelled.`
pub(super) fn begins_with_a_deed(text: &str) -> bool {
    static DEED: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(accepted|added|booked|confirmed|logged|noted|posted|saved|scheduled|sent|created #?[1-9]\d*)( (for|to|in|at|as) [^\n:.,]{1,40})?[:.,] (?P<rest>[^\n]*)",
        )
    });
    static FAILS: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)\b(but|however|although|error|fail\w*|refus\w*|reject\w*|declin\w*|den(y|ied)|expired?|invalid|unable|timed out|not (available|found))\b",
        )
    });
    let rest = DEED.as_ref().and_then(|deed| deed.captures(text)?.name("rest")).map(|rest| rest.as_str());
    // What is quoted is the thing that was made.
    rest.is_some_and(|rest| rest.starts_with('"') || !patterns::matches(&FAILS, rest))
}

/// Whether a clause says that the tool did something, or did what its name says.
pub(super) fn is_done(clause: &str, tool: Option<&str>) -> bool {
    static DONE: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(ok|done|success\w*|found|note|info|skipped|no change\w*|up to date) ?[:,—-]|^\w+ed, |^(added|created|deleted|fetched|found|listed|loaded|moved|ran|read|removed|saved|sent|set|showing|started|updated|wrote) \S|\b(success\w*|up to date|skipp\w+|unchanged)\b",
        )
    });
    let is_denied = clause.starts_with("No ")
        || [" not ", "n't ", "Not ", " no ", "othing "].iter().any(|word| clause.contains(word));
    let (first, last) = (clause.split(' ').next().unwrap_or_default(), clause.rsplit(' ').next().unwrap_or_default());
    let is_for = ["d", "en", "wn"].iter().any(|end| last.ends_with(end))
        && !clause.contains("already ")
        && !clause.starts_with("unknown ");
    patterns::matches(&DONE, clause)
        || clause.contains(", ") && tells_a_deed_first(clause, tool)
        || other_languages::tells_a_deed(clause)
        || first.ends_with("ed") && does(tool, first)
        || !is_denied && (is_for && does(tool, last) || tells_of_something_done(clause))
}

/// Whether a text tells that the tool has done what its name says, in words that others use for a failure: `Card blocked.`
/// from `block_card`.
pub(super) fn is_deed_of(text: &str, tool: Option<&str>) -> bool {
    const LONGEST: usize = 240;
    static UNDONE: LazyPattern = LazyLock::new(|| {
        patterns::one(r"(?i)\b(not|cannot|fail\w*|error\w*|unable|could|already|only|by|because|due)\b|n't\b")
    });
    static TIMED_OUT: LazyPattern = LazyLock::new(|| patterns::one(r"^Timed out \S+ (for|until) "));
    let is_of_timeouts = || tool.and_then(first_word).is_some_and(|word| word == "timeout");
    if patterns::matches(&TIMED_OUT, text) && !text.starts_with("Timed out waiting ") && is_of_timeouts() {
        return true;
    }
    let text = text.split(". Note: ").next().unwrap_or(text);
    let first = text.split([',', ';', ':', '\n']).next().unwrap_or_default();
    let mut others = first.split([' ', '.', '!', ')']).skip(1).map(str::to_ascii_lowercase);
    text.len() <= LONGEST
        && others.any(|word| is_ending(&word) && does(tool, &word))
        && !patterns::matches(&UNDONE, text)
}

/// Whether a clause says that what the name of the tool says was not done: `file a.txt was not deleted` of `delete_file`.
pub(super) fn denies_deed(clause: &str, tool: Option<&str>) -> bool {
    static DENIED: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)\b(?:not|n't)(?: been| be)? (\w+[dn]|sent)\b|\b(?:could not|couldn't|cannot|can't|did not|didn't|unable to|failed to) (?:be )?(\w+)\b|^(?:the |this |your )?(\w+) (?:was |is |has been )?(?:aborted|blocked|cancell?ed|declined|denied|failed|refused|rejected|stopped)\b",
        )
    });
    // The deed is the first word of the tool's name.
    let Some(deed) = tool.and_then(first_word) else { return false };
    let denied = DENIED.as_ref().and_then(|denied| denied.captures(clause));
    denied.is_some_and(|denied| {
        denied.iter().skip(1).flatten().any(|word| shares_stem(&deed, &word.as_str().to_ascii_lowercase()))
    })
}

fn first_word(tool: &str) -> Option<String> {
    words(tool).into_iter().find(|word| !word.is_empty())
}

/// Whether a field is named after the deed of a tool. Other flags are of the thing that was made: `pinned`, `read`.
pub(super) fn names_deed_of(field: &str, tool: &str) -> bool {
    let deed = words(field).pop().unwrap_or_default();
    // `send_activation` activates nothing yet.
    let is_thing = |word: &str| ["tion", "ment"].iter().any(|end| word.ends_with(end));
    let deeds: Vec<String> = words(tool).into_iter().filter(|word| !is_thing(word)).collect();
    deed.ends_with("ed") && does(Some(&deeds.join("_")), &deed)
}

/// Whether a word is the deed that the name of the tool says, also of one that does it again.
pub(super) fn does(tool: Option<&str>, deed: &str) -> bool {
    let deed = deed.to_ascii_lowercase();
    let is_of = |word: &String| {
        shares_stem(word, &deed) || word.strip_prefix("re").is_some_and(|word| shares_stem(word, &deed))
    };
    tool.is_some_and(|tool| words(tool).iter().any(is_of))
}

/// Whether a word of the name of a tool is that of a deed: `stop` of `stopped`, `deny` of `denied`, `deployment` of `deployed`.
pub(super) fn shares_stem(word: &str, deed: &str) -> bool {
    let shared = word.bytes().zip(deed.bytes()).take_while(|(one, other)| one == other).count();
    let rest = word.get(shared..).unwrap_or_default();
    (3..6).contains(&shared) && ["", "d", "e", "s", "y"].contains(&rest) && deed.len() <= shared + 3
        || shared > 5 && deed.len() <= shared + 3
}

/// Whether a message tells that something was done: then no other word of it proves that nothing was.
pub fn tells_of_something_done(message: &str) -> bool {
    static DONE: LazyPattern = LazyLock::new(|| {
        patterns::one(&format!(
            r"\b(was|were|been|already|successfully) (already )?({DEEDS}|written)\b|\bis (applied|booked|charged|completed|created|issued|made|paid|placed|posted|refunded|saved|sent|submitted)\b|\b[a-z]+[_-]\w*\d\w* ({DEEDS})\b|: ({DEEDS}|done)\b|\b(while|when|after) (mailing|emailing|notifying|polling|submitting|logging)\b|\bafter submit|\balready (been )?(in progress|running|started)\b|\b({DEEDS}),? but\b|\b[1-9]\d* ({DEEDS}|written)\b|\b(line|row|item|task|step|record|chunk|migration|part)s? \d+ ?(-|–|to|through) ?\d+ (were |was )?[a-z]+ed\b|\b(after|until) (item|row|record|line|step|message|file|object|user|batch) #?\d+\b|\bdisk quota exceeded\b|\b(mid-?stream|midway|half-?way|part-?way)\b|\b({DEEDS}) \d+ |\b\d+ ?/ ?\d+ (done|{DEEDS})\b|\b(batch|file|item|message|record|row|step) \d+ ?(/|of) ?\d+\b|\bwent through\b|\bthe tool ran\b|\b(after|while|during) (the )?(\w+ )?(was |is |partial )?(being )?(captur|commit|execution|payout|process|submission|transfer|charge)\w*|\b(before the (response|answer|reply)|while waiting for|reading back)\b|\bat \d{{1,3}} ?%|\b(charge|payment|refund|transfer) (captured|completed|made|succeeded)\b|^(rollback|clean-?up|post-processing)\b|\b(response|output) blocked by\b|\b(second|third|fourth) of (two|three|four|\d+)\b|\bstep \d+ of \d+\b"
        ))
    });
    let message = cut(message, 960).to_lowercase();
    // `Nothing was sent except the first` tells of a deed.
    let has_rest = [" except", " but ", " besides", " beyond", " other than", " apart from", " until ", " after "];
    // A conflict says that the key was already processed (ADR 0037).
    let denied: &[&str] = match has_rest.iter().any(|word| message.contains(word)) {
        true => &["requests have been", "requests were", "already processed", "already been processed"],
        false => &[
            "requests have been",
            "requests were",
            "already processed",
            "already been processed",
            "nothing has been",
            "nothing was",
        ],
    };
    let message = denied.iter().fold(message, |message, words| message.replace(words, ""));
    patterns::matches(&DONE, &message) || counts_a_part(&message)
}

/// Whether a message counts a part of a whole, as `quota exceeded at 12 of 40 messages` does. A used limit is none.
fn counts_a_part(message: &str) -> bool {
    static PART: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"\b(\d{1,9}) (?:of|out of) (\d{1,9})\b( (?:requests|calls|tokens|credits|seats|attempts|retries)\b)?",
        )
    });
    let Some(part) = PART.as_ref() else { return false };
    part.captures_iter(message).any(|found| {
        let number = |group| found.get(group)?.as_str().parse::<u64>().ok();
        found.get(3).is_none() && number(1).zip(number(2)).is_some_and(|(part, whole)| 0 < part && part < whole)
    })
}

/// Whether a clause tells of what somebody has done before, and not of what is already so.
pub(super) fn tells_of_others(clause: &str) -> bool {
    ["what you have already", "what we have already", "that you have already", "which you have already"]
        .iter()
        .any(|words| clause.contains(words))
}

/// Whether a message ends with the words that nothing was done, behind the reason: `That day is full. Nothing was booked.`
pub(super) fn ends_with_nothing_done(text: &str) -> bool {
    static NOTHING: LazyPattern = LazyLock::new(|| {
        patterns::one(&format!(
            r"(?i)\S[.;,:!–—-] (so )?(nothing|nobody|no one|no (booking|changes?|charge|messages?|money|orders?|payment|rows?)) (has been|have been|was|were) (assigned|done|stored|written|{DEEDS})[.!]?$|; nothing written[.!]?$"
        ))
    });
    const FINE: [&str; 6] = ["already", "current", "empty", "is open", "same", "up to date"];
    patterns::matches(&NOTHING, text) && !FINE.iter().any(|word| text.to_lowercase().contains(word))
}

/// Whether a clause says that what the name of a tool says was not made: `No charge was made` of `charge_card`, `a copy of 7, not
/// created` of `create_ticket`.
pub(super) fn says_none_was_made(clause: &str, tool: Option<&str>) -> bool {
    static NONE: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^no ([\w-]+) (?:was|were|has been|have been) (\w+)(?: because\b[^\n,]*|:[^\n]*)?$|(?:,|;) not (\w+)$",
        )
    });
    let found = NONE.as_ref().and_then(|none| none.captures(clause));
    let is_own = |word: Option<regex::Match<'_>>| word.is_some_and(|word| does(tool, word.as_str()));
    let is_thing = |word: &str| tool.is_some_and(|tool| words(tool).iter().any(|own| word.eq_ignore_ascii_case(own)));
    found.is_some_and(|found| match found.get(1) {
        Some(thing) => {
            is_own(found.get(2)) || is_thing(thing.as_str()) && found.get(2).is_some_and(|deed| deed.as_str() == "made")
        }
        None => is_own(found.get(3)),
    })
}

/// Whether a clause says that there is nothing in what was given to do what the name of the tool says with:
/// `Nothing to wash in "!"`.
pub(super) fn has_nothing_to_do(clause: &str, tool: Option<&str>) -> bool {
    static NOTHING: LazyPattern = LazyLock::new(|| patterns::one(r"(?i)^nothing to (\w+) in [`'\x22]"));
    let Some(tool) = tool else { return false };
    let verb = NOTHING.as_ref().and_then(|nothing| nothing.captures(clause)?.get(1)).map(|verb| verb.as_str());
    verb.is_some_and(|verb| words(tool).contains(&verb.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_is_for_is_no_failure_of_it() {
        for (tool, text) in [
            ("block_card", "Card ending 1881 has been blocked"),
            ("reject_request", "Request rejected successfully"),
            ("close_browser", "Browser closed"),
            ("cancel_order", "Order 771 cancelled. Refund of 20 EUR issued."),
        ] {
            assert!(is_deed_of(text, Some(tool)), "{tool}: {text}");
        }
        for (tool, text) in [
            ("pay", "Card ending 1881 has been blocked"),
            ("close_browser", "Browser could not be closed"),
            ("cancel_order", "Order was already cancelled"),
            ("cancel_order", "Request cancelled by the user"),
            ("block_card", "Failed to get the card blocked"),
        ] {
            assert!(!is_deed_of(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn a_deed_is_told_by_a_participle_that_nothing_denies() {
        for (tool, text) in [
            ("add_user", "User ada added, the address is odd"),
            ("ship_order", "Order shipped: 'Login failed'"),
            ("close_gate", "Gate closed, the light is on"),
        ] {
            assert!(tells_a_deed_first(text, Some(tool)), "{tool}: {text}");
        }
        for (tool, text) in [
            ("add_user", "User ada is not added, the address is odd"),
            ("push_job", "Limit of jobs reached, job lost"),
            ("open_page", "The browser closed, open it again"),
            ("add_user", "Nothing was added, the address is odd"),
            ("set_place", "Set a place, then a time"),
        ] {
            assert!(!tells_a_deed_first(text, Some(tool)), "{tool}: {text}");
        }
        assert!(tells_of_something_done("2 copied, 1 lost") && !tells_of_something_done("Nothing was copied"));
        assert!(tells_of_something_done("Nothing was copied except the first row"));
    }

    #[test]
    fn a_deed_is_that_of_a_word_with_its_stem() {
        for (word, deed) in [("deny", "denied"), ("stop", "stopped"), ("write", "written"), ("deployment", "deployed")]
        {
            assert!(shares_stem(word, deed), "{word}: {deed}");
        }
        for (word, deed) in [("refund", "refused"), ("user", "used"), ("set", "settled")] {
            assert!(!shares_stem(word, deed), "{word}: {deed}");
        }
    }
}
