//! How a short report of a failure is laid out: a line marked with a cross below a title, advice below a heading of its own,
//! the request to mend the call and to try again. Knows few words of failures.

use std::sync::LazyLock;

use super::deeds::tells_a_deed_first;
use super::excerpt::end_of;
use super::patterns::{self, LazyPattern};
use super::prose;
use super::tool_name::{asks, gives_text, has_word, is_command_line, looks, reports};

/// The longest report, in bytes, and the most lines of it.
const LONGEST: usize = 1_500;
const MOST_LINES: usize = 16;

/// The request to mend the call, at the end of a message.
const MEND: &str = r"(?i)\bplease (try )?(address|correct|fix|resolve)(ing)? (the |this |these |your )?(\w+ )?(arguments?|errors?|inputs?|issues?|mistakes?|parameters?|problems?)( above)?,? and (call|calling|re-?try|run|send|submit|try)\b[^\n]{0,40}$";

/// The heading of advice on what failed.
const ADVICE: &str = r"(?i)^\W{0,4}((possible|potential|suggested|recommended) (causes?|fix(es)?|solutions?|reasons?)|troubleshooting( steps| tips)?|(how )?to (fix|resolve)( this| it)?( error| issue| problem)?)\W{0,3}:\W{0,3}$";

/// What there is in place of what was asked for, behind the word that it is not there.
const CHOICES: &str = r"(?i)^[^\n]{1,160}\b(not found|(does not|doesn't) exist|is (unknown|invalid)|unknown \w+|not (a )?(known|supported|valid)( \w+)?|unsupported \w+)\b[^\n]{0,60}?[.;:,(] ?(did you mean:? ?|(allowed|available|existing|known|possible|supported|valid)( \w+){0,3}( are| is)?: ?)[`'\x22\[(\w]";

static CHOICES_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(CHOICES));
static MEND_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(MEND));
static ADVICE_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(ADVICE));

/// Whether a report is laid out as that of a failure.
pub(super) fn is_failure(text: &str, tool: Option<&str>) -> bool {
    if text.len() > LONGEST || tool.is_some_and(reports) {
        return false;
    }
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let may_be_of_others = tool.is_some_and(gives_text);
    let second = lines().nth(1).unwrap_or_default();
    let is_advised = second.ends_with([':', '*']) && patterns::matches(&ADVICE_PATTERN, second);
    (asks_to_mend(text) || names_choices(text) && !may_be_of_others) && !tells_a_deed_first(text, tool)
        || is_advised && !may_be_of_others && !text.starts_with(['#', '{', '[', '<']) && !text.starts_with("To ")
        || is_crossed(text)
        || is_stated(text, tool)
}

/// Whether one of the first lines of a report on what a tool did names the state that it ended in.
fn is_stated(text: &str, tool: Option<&str>) -> bool {
    static STATE: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(outcome|result|state|status)\s*[:=]\s*(aborted|denied|error|failed|failure|refused|rejected|undelivered)[.!]?$",
        )
    });
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // Others record states, or wait for that of something else.
    const DOES: [&str; 9] = ["backup", "book", "charge", "deploy", "export", "import", "pay", "send", "upload"];
    let does = |tool: &str| has_word(tool, &DOES) && !asks(tool) && !looks(tool) && !is_command_line(tool);
    tool.is_some_and(does) && lines().count() <= 8 && lines().take(3).any(|line| patterns::matches(&STATE, line))
}

/// Whether a message ends with the request to mend the call and to try again.
fn asks_to_mend(text: &str) -> bool {
    let text = text.trim_end();
    let last = end_of(text, 120);
    last.contains("lease") && patterns::matches(&MEND_PATTERN, last)
}

/// Whether a short message tells what there is in place of what was asked for.
fn names_choices(text: &str) -> bool {
    text.len() <= 600
        && prose::CHOICES.iter().any(|head| head.get(1..).is_some_and(|head| text.contains(head)))
        && !text.starts_with(['#', '{', '[', '<', '-', '*'])
        && text.lines().filter(|line| !line.trim().is_empty()).count() <= 2
        && patterns::matches(&CHOICES_PATTERN, text)
}

/// Whether one line below a title is marked with a cross, and none with a tick.
fn is_crossed(text: &str) -> bool {
    const CROSSES: [&str; 4] = ["❌", "✗ ", "✘ ", "✖"];
    const WORDS: [&str; 17] = [
        "cannot",
        "can't",
        "code: ",
        "could",
        "denied",
        "does",
        "error",
        "expired",
        "fail",
        "invalid",
        "missing",
        "must",
        "not ",
        "refused",
        "rejected",
        "timed out",
        "unable",
    ];
    const TICKS: [&str; 4] = ["✅", "✓", "✔", "☑"];
    let has = |line: &str, marks: &[&str]| marks.iter().any(|mark| line.contains(mark));
    if text.is_ascii() || has(text, &TICKS) || text.starts_with(['{', '[', '<', '|']) {
        return false;
    }
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let title = lines().next().unwrap_or_default();
    let is_title = title.len() <= 60 && !title.ends_with(['.', '!', ':']) && !has(title, &CROSSES);
    // A list has other marks.
    let is_mark = |c: char| !c.is_ascii() && !c.is_alphanumeric() && !"├└│╰╭─💡→•⚠“‘".contains(c);
    let is_other = |line: &str| line.starts_with(is_mark) && !CROSSES.iter().any(|mark| line.starts_with(mark));
    let is_list = lines().skip(1).any(is_other);
    let crossed = || lines().skip(1).filter(|line| CROSSES.iter().any(|mark| line.starts_with(mark)));
    // A list of things to remove, or of what a plan lacks, has crosses too.
    let says_why = lines().skip(1).any(|line| WORDS.iter().any(|word| line.to_lowercase().contains(word)));
    is_title && !is_list && says_why && lines().count() <= MOST_LINES && (1..=2).contains(&crossed().count())
}

/// Whether a line is a piece of advice: `- Ensure that it runs`.
pub(super) fn is_advice(line: &str) -> bool {
    prose::asks_the_reader(line.trim_start_matches(|c: char| !c.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_a_failure_is_known_by_its_layout() {
        for text in [
            "No such step: 3. Please fix the issue and try again.",
            "Step 3 is odd.\nPlease try correcting the error and calling the tool again",
            "Gate \"b\" not found. Available: \"a\", \"c\"",
            "The gate is stuck.\nPossible solutions:\n- Ensure that it is oiled\n- Call the smith",
            "⚙️ Gate\n\n❌ The gate is stuck: oil it\n  └ Code: STUCK\n",
            "📱 Open the gate\n\nErrors (1):\n\n  ✗ the gate is stuck\n\n❌ It stays closed.\n",
        ] {
            assert!(is_failure(text, Some("open_gate")), "{text}");
            assert!(!is_failure(text, Some("check_gate")), "{text}");
        }
        for text in [
            "The gate is open. Please fix the lamp.",
            "Gate b is open. Available: all day",
            "Keys were not found. We went on.",
            "The gate is open.\nNext steps:\n- Ensure that it is oiled",
            "⚙️ Gates\n❌ north\n✅ south",
            "🔔 News\n\n❌ the gate is stuck\n💬 a word from the smith",
            "🔔 News:\n\n❌ the gate is stuck",
            "⚙️ Gates\n❌ north\n❌ south\n❌ east",
            "❌ north",
            "Gates\n- north ❌",
        ] {
            assert!(!is_failure(text, Some("open_gate")), "{text}");
        }
        assert!(!is_failure("Rust on a gate\nPossible causes:\n- rain", Some("read_article")));
        assert!(is_advice("- Ensure that it runs") && !is_advice("- ensured"));
    }

    #[test]
    fn lists_with_crosses_deeds_and_plans_are_none() {
        for (tool, text) in [
            ("unsubscribe", "Preferences\n❌ Newsletter"),
            ("remove_item", "Removed 1 item\n❌ milk"),
            ("create_quiz", "Q1\n❌ Paris\nA: London"),
            ("add_feature_matrix", "Plan Basic\n❌ SSO\n❌ Audit"),
            ("update_order", "Order updated. Coupon SAVE is unknown, valid ones: A, B"),
            ("create_ticket", "Ticket 7 created: 'Login page not found'. Available 'in Jira'."),
            ("send_message", "Message sent: please fix the errors and try again"),
            ("create_issue", "Created issue #4: Please fix the problem and retry"),
            ("generate_plan", "To deploy the service\n\nPossible causes:\n- x"),
        ] {
            assert!(!is_failure(text, Some(tool)), "{tool}: {text}");
        }
    }
}
