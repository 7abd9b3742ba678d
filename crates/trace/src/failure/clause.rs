//! The words in the first clause of a short message that say that a call came to nothing, whatever stands around them:
//! `Price 412 exceeds max_price 100`, `Zone not found: Attic`, `Set a place first`. Which words count depends on what the
//! name of the tool says that it does.

use std::cell::LazyCell;
use std::sync::LazyLock;

use super::deeds::{
    self, denies_deed, ends_with_nothing_done, has_nothing_to_do, is_deed_of, is_done, says_none_was_made,
    tells_of_others,
};
use super::kinds::{ARGUMENTS, FORBIDDEN, NOT_FOUND, TOOL_ERROR, UNAUTHORIZED};
use super::patterns::{self, LazyPattern, LazySet};
use super::tool_name::{
    Tools, acts, asks, finds_out, gives_text, has_word, is_command_line, is_reader, is_shell, is_writer, looks,
    records, words,
};
use super::{other_languages, prose};

/// The error code of a failure that a tool words in a plain sentence of its own, which names no kind.
pub(super) const TOOL_REFUSED: &str = "tool_refused";

/// The longest message, in bytes, and the most lines of it.
const LONGEST: usize = 400;
const MOST_LINES: usize = 6;

/// Words of failures.
const CUES: [(Tools, &str, &str); 48] = [
    // the request
    (
        Tools::Every,
        ARGUMENTS,
        r"^(please )?(provide|specify|supply) (at least|both|either|exactly|one of|a valid|[`\x27\x22]|an? \w+ (for|or|to)\b|(a |an |the )?(?-i:[a-z]+([A-Z]|_)\w*)|\w+ or \w+)|^please (choose|enter|give|input|select|send|use) an? valid \w",
    ),
    (
        Tools::Every,
        ARGUMENTS,
        r"^(the )?([`'\x22]\w[\w.]*[`'\x22]|[a-z]+_\w+) (must|should|needs to|has to|cannot|is required|is missing)\b|^missing (or empty )?[`'\x22]|^(argument|field|parameter) [`'\x22]\w+[`'\x22] (has|is|must)\b|^only \S+( \S+)? urls? (are|is) (allowed|supported)|^no (\w+ ){1,4}specified$|^([\w ]{1,20} )?path ([`'\x22]\S+ )?(is a (directory|file|folder)[:,]|is not a (directory|file|folder)\b)|^(file |directory )?path must be \w|^not an? (directory|file|folder|git repository)\b|^(that's|this is|it is|\S+ is) a (directory|folder), not a file\b|^too (many|few) arguments\b",
    ),
    (Tools::Any, ARGUMENTS, r"^(?-i:[a-z][\w.]*) must (be|come|contain|end|exist|have|include|match|point|start)\b"),
    (
        Tools::Any,
        ARGUMENTS,
        r"^(?-i:[`'\x22]?[a-z][\w.]*[`'\x22]?) (is|are) (ambiguous|missing|required|not readable)\b|\b(requires|is required for) [`'\x22][\w.]+[`'\x22]$|^(?-i:[`'\x22a-z]\S*) is limited to \d",
    ),
    (
        Tools::Any,
        ARGUMENTS,
        r"^(invalid|malformed|unsupported|illegal) ([\w'-]+ ){0,4}[\w'-]+( [`'\x22][^`'\x22\n]*[`'\x22]|: \D[^\n]*)?$",
    ),
    (
        Tools::Unasked,
        ARGUMENTS,
        r"^only \S[^\n]* (is|are|can|may) (be )?(accepted|allowed|permitted|supported|used)\b|^only \S[^\n]* can \S|^only \d[^\n]*\b(need|needs|minimum|required)\b",
    ),
    (
        Tools::Any,
        ARGUMENTS,
        r"^(the |your )(given|passed|provided|specified|supplied) [^\n,]{1,100}? ((is|are|was|were) (not an? valid \w+|invalid|malformed)|must be [^\n,]{1,60})$",
    ),
    (
        Tools::Any,
        TOOL_ERROR,
        r"^(the |your )(given|passed|provided|specified|supplied) [^\n,]{1,100}? ((is|are|was|were) (unknown|unsupported|not (known|recogni[sz]ed|supported))|must (fit|match|have|contain)\b[^\n,]{0,60})$",
    ),
    (
        Tools::Doing,
        ARGUMENTS,
        r"^[`'\x22][^`'\x22\n]{1,60}[`'\x22] is not (one of|among) \W|^(command|option|flag) [`'\x22][^`'\x22\n]{1,60}[`'\x22] (is |was )?not recogni[sz]ed$",
    ),
    (Tools::Any, TOOL_ERROR, r"^(stale|invalid|missing|not|no|unknown|unsupported|expired|denied)_\w+: \S"),
    (
        Tools::Asking,
        ARGUMENTS,
        r"^(the )?(search )?(query|search|term|keyword|prompt|input)( text| string)? (is|was|cannot be|can't be|must not be) (blank|empty|missing)$",
    ),
    (
        Tools::Asking,
        TOOL_ERROR,
        r"^please (provide|specify|supply|enter) (a|an|the|your) ([\w-]+ ){0,2}(city|date|file|id|keyword|location|name|path|prompt|query|term|text|topic|url)s?( (for|of|to) [^\n,]{1,40})?$",
    ),
    (
        Tools::Every,
        TOOL_ERROR,
        r"^(too many|more than \d+) [^\n]{1,60}\b(files|hits|items|matched|matches|results|rows)\b",
    ),
    (
        Tools::Every,
        TOOL_ERROR,
        r"^no ([\w-]+ ){0,4}(api[ _-]?key|argument|code|command|connection( id)?|content|credential|file|id|image|input|key|message|name|option|parameter|password|path|pattern|prompt|query|secret|template|text|token|uri|url|value)s? (was |were |is |are )?(given|provided|specified|supplied)$|^missing ([\w-]+ ){0,3}(argument|code|content|field|file|id|input|key|message|name|option|parameter|path|query|text|token|url|value)s?$",
    ),
    (
        Tools::Doing,
        TOOL_ERROR,
        r"^(the )?path ([`'\x22]\S+ )?(is |was )?not (readable|writable|absolute)$|^you must (authenticate|connect|log ?in|register|sign ?in) |\bnot (allowed|permitted|supported) unless (you|it|the)\b|^(the )?([\w'-]+ ){1,3}(is |are )?(currently )?not (available|supported) in this (environment|mode|context|region)\b",
    ),
    (Tools::Doing, TOOL_ERROR, r"\b(does not|doesn't|do not|don't) (accept|allow|permit|provide|support) \S"),
    // what the tool itself lacks, and who may not use it
    (
        Tools::Every,
        TOOL_ERROR,
        r"\bunavailable: http \d|^(the )?(agent|model|assistant|user|client) (is )?not (allowed|authori[sz]ed|permitted) to (access|call|run|use)\b|\btool\b[^\n]{0,20} is (currently |temporarily )?(not available|unavailable)\b",
    ),
    (
        Tools::Every,
        UNAUTHORIZED,
        r"(?-i:\b[A-Z][A-Z0-9]*_[A-Z0-9_]+) (is |are |was )?(not (set|configured|defined|found|provided)|missing|unset|required)\b|\b(api[ _-]key|access token|credentials|secret)s? (is |are |was |were )?(not (configured|found|provided|set)|missing)\b|^(\S+ ){0,2}(api[ _-]key|authentication|credentials|token) (is )?required$|(未配置|未设置)",
    ),
    (
        Tools::Any,
        TOOL_ERROR,
        r"\b(is |are |was |were )?(not|isn't|aren't|wasn't) (been |currently |yet |properly )*(authenticated|configured|initiali[sz]ed|installed|(logged|signed) in)\b|\b(database|server|service|daemon|browser|bridge|engine|backend|app|client|api)( \w+)? (is )?not (available|connected|reachable|ready|running|started)\b",
    ),
    (
        Tools::Any,
        TOOL_ERROR,
        r"\b(is|are) not (implemented|supported)\b|^\S+( \S+){0,3} not supported$|\bdisabled (in|by|on) (the )?(\w+ )?(config\w*|settings|polic\w+|admin\w*|server)\b",
    ),
    (
        Tools::Unasked,
        FORBIDDEN,
        r"^(\w[\w-]* ){0,3}(blocked|denied|forbidden|refused|rejected)\b\]?\W{0,2}( *[:—–]\s*[^\s\d]| by (an? |the |your )?(\w+ )?(admin\w*|allowlist|filters?|firewall|guard\w*|hooks?|owner|polic\w+|rules?|safety \w+|sandbox)$)|\bblocked (the |this )?(access|call|request|url)\b|\b(is|are) not (allowed|authori[sz]ed|permitted)\b|^\S+( \S+){0,3} not (allowed|permitted)$|^(you )?(need|have) to (authenticate|connect|log ?in|register|sign ?in) ",
    ),
    (Tools::Unasked, TOOL_ERROR, r"^(state|status): (error|failed|failure)$"),
    (
        Tools::Any,
        TOOL_ERROR,
        r"\b(token|permission|scope|role|key|subscription|plan)s?\b[^\n]{0,60} (is |are )?required\b",
    ),
    (Tools::Doing, TOOL_ERROR, r"\brequires [^\n]{1,80}$"),
    (
        Tools::Any,
        TOOL_ERROR,
        r"\b(transport|connection|network|store|database|gateway) error\b|\b(response|request|query|call) has errors?\b",
    ),
    (
        Tools::Any,
        TOOL_ERROR,
        r"^no [a-z]+_\w+ (found|given|in|set)\b|^(i|we) (encountered|ran into|hit|got) an? (\w+ )?(error|problem)\b|^(got|received|hit) an? (\w+ )?error\b",
    ),
    (
        Tools::Any,
        TOOL_ERROR,
        r"\bis not available (here|in this (environment|mode|context|region))|\bunavailable: (http|error|\d)|\bnot (allowed|authori[sz]ed|permitted) to (access|call|run|use)\b",
    ),
    (
        Tools::Any,
        TOOL_ERROR,
        r"^no (output|response|reply|answer|data|result) (after|within|for) \d|^too (many|few|much) \S|^(body|content|file|image|input|message|output|payload|query|request|response|result|text)( is)? too (big|large|long)\b|^(description|name|subject|title)( is)? too long \(max[^)\n]*\)?$",
    ),
    (
        Tools::Any,
        TOOL_ERROR,
        r"^temporarily unavailable$|^slow ?down: |^(the |this )?(api|service|system) is (currently )?(down for|under) maintenance\b|^(E(?-i:ACCES|EXIST|INVAL|ISDIR|NOENT|NOSPC|NOTDIR|PERM|ROFS)|read-only file system|disk quota exceeded|input/output error)$|\bpath\b[^\n]{0,60} escapes (from )?(the |its )?[\w-]+$",
    ),
    // what the call named is not there
    (
        Tools::Given,
        TOOL_ERROR,
        r"^(the )?\S+( \S+){0,8} (was |were |is |could )?not (be )?found\b( (on|in|at|or|with|for|by|under|within):? [^\n]*|:[^\n]*|, (available|did you|please|try|use)\b[^\n]*)?$",
    ),
    (Tools::Given, NOT_FOUND, r"^(the )?\S+( \S+){0,6} (does not|doesn't|do not|don't) exist\b"),
    (
        Tools::Given,
        NOT_FOUND,
        r"^no ([\w./-]*(ss|[^s\W]) ){0,2}[\w./-]*(ss|[^s\W]) (found|matched|matches|matching|exists|configured|returned)( (for|with|at|in|under|by|named|on))?( \w+){0,2}:? ([`'\x22(/]\S|\S*\d)|^no [\w-]*[^s\W]( \w+)? with \S|^no (content|image|data|output|response|reply|answer|body|text) (was |is )?(available|generated|produced|received|returned)\b|^(\w+ )?(image|file|content|data|record|entry) (is )?missing (for|from|in) \S",
    ),
    (
        Tools::Given,
        TOOL_ERROR,
        r"^(i'm sorry|sorry|unfortunately)\b[^\n]*(\b(can't|cannot|could not|couldn't|unable to) (access|fetch|find|get|load|locate|open|read|retrieve)\b| no \w+( was)? found\b)",
    ),
    (Tools::Given, NOT_FOUND, r"^unknown ([\w-]+ ){0,2}[\w()-]+(:| [`'\x22#]) ?\S"),
    // how what it works with is
    (
        Tools::Doing,
        TOOL_ERROR,
        r"^[^:\n]*\b((is|are|was|were)( not|n't)( been| currently| yet)? (\w+(able|ed|en|ible)|active|available|compatible|complete|due|eligible|empty|enough|found|free|full|in|on|online|open|owned|part|ready|running|set|sent|valid)|(has|have|had|do|does|did|could|ca|can)( not|n't|not)( be(en)?)? \w+)\b|^not (a|an|in|on|at) \S|^\S+( \S+){0,3} not (available|connected|enabled|open|ready|reachable|registered|running|readable)\b",
    ),
    (
        Tools::Doing,
        TOOL_ERROR,
        r"\b(is|are|has|have|was|were|there's|there is) already\b|^already [a-z]+\b|\b(is|are) no longer (available|open|possible|supported)\b",
    ),
    (
        Tools::Changing,
        TOOL_ERROR,
        r"^nothing (to|was|were|has|is|saved|changed|done|updated|sent|written|created|deleted)\b",
    ),
    (
        Tools::Doing,
        TOOL_ERROR,
        r"\b(exceeds|exceed the|is (above|over|beyond) the)\b|\b(quota|limit|budget|allowance) (is |was |has been )?(exceeded|reached|used up|exhausted)\b",
    ),
    (
        Tools::Doing,
        TOOL_ERROR,
        r"\b(must|needs? to|has to|have to|should) (first )?(be|contain|end|exist|have|include|match|start|use)\b|\b(is|are) (required|mandatory|missing|ambiguous|reserved|locked|disabled|unavailable|invalid|unsupported|asleep|sleeping|busy|stale|superseded)\b|\bwas (superseded|interrupted)\b| required$| required:? ",
    ),
    (
        Tools::Doing,
        TOOL_ERROR,
        r"^usage: \S|^none of \S|^\S+ is a directory$|\breceived (an? )?invalid\b|\bis full\b|\bnot (given|provided|selected|specified|supplied)$|^no (\w+ ){1,3}to \w+$",
    ),
    (
        Tools::Changing,
        TOOL_ERROR,
        r"^no (\w+ ){0,3}[\w./-]*[^s\W] (found|set|selected|configured|available|active|open|connected)\b|^no (active|open|pending|current|such|suitable) ([\w-]+ ){0,2}[\w-]*[^s\W]( |$)|^no (\w+ ){1,3}(left|remaining)$",
    ),
    (
        Tools::Doing,
        TOOL_ERROR,
        r"\b(aborted|interrupted|rejected|refused)( *[:(]|,|$)|\b(closed|crashed|died|disconnected|exited) before\b|^(\w+ )?(stale|rate[- ]limited)\b",
    ),
    (
        Tools::Doing,
        TOOL_ERROR,
        r"\b(ambiguous|conflicting|inconsistent|mutually exclusive)\b|\bwould (conflict|exceed|overwrite)\b",
    ),
    (
        Tools::Doing,
        TOOL_ERROR,
        r"^could(n't| not) find \S|^there (is|are|was|were) no \S|^there('s| is) (already|not|no)\b",
    ),
    // what a tool that changes something did not do, and who did not let it
    (Tools::Changing, TOOL_ERROR, r"^(0|no) (\w+ ){1,2}(delivered|posted|sent)$|^(delivered|posted|sent) 0 of [1-9]"),
    (
        Tools::Making,
        TOOL_ERROR,
        r"^((the|your) )?(\w+ )?(bank|card|charge|issuer|payment|transaction|transfer) (has |was )?(declined|refused|rejected)( by (the )?\w+| (the|this|your) [^\n]*|:[^\n]*)?$|^((the|your) )?(\w+ )?(address|delivery|e-?mail|mail|message|recipient|sms) (has |was )?(blocked|bounced|refused|rejected|undeliverable|undelivered)( by (the )?\w+|:[^\n]*)?$|^undelivered (e-?mail|mail|message)\b|^delivery failed( \w+)?$|^declined$",
    ),
    (Tools::Doing, TOOL_ERROR, r"\bnot an? (valid |supported |known |recogni[sz]ed )?\w+$"),
    (Tools::Doing, TOOL_ERROR, r"^(\w[\w-]* ){1,4}(failed|mismatch)\b *(:|$|with|because|due|after|to |for |on |at )"),
];

static CUE_SET: LazySet = LazyLock::new(|| patterns::set(whole().iter().map(String::as_str)));

/// The words of failures, in all languages.
fn cues() -> impl Iterator<Item = (Tools, &'static str, &'static str)> {
    CUES.into_iter().chain(other_languages::CUES.into_iter().map(|(of, words)| (of, TOOL_ERROR, words)))
}

/// The words as patterns.
pub(super) fn whole() -> Vec<String> {
    cues().map(|(_, _, cue)| format!("(?i){cue}")).collect()
}

/// Whether a short message says in its first clause that the call came to nothing.
pub(super) fn says(text: &str, tool: Option<&str>) -> bool {
    kind_of(text.trim(), tool).is_some()
}

/// The kind that the words of a message name, if it is nothing but one clause.
pub(super) fn kind(message: &str, tool: Option<&str>) -> Option<&'static str> {
    let message = message.trim();
    let joined = [" and ", " then ", " after ", " so ", " anyway", " instead", "; ", "\n"]
        .iter()
        .any(|word| message.contains(word));
    let is_one = !joined && !deeds::tells_of_something_done(message) && prose::sentences(message) <= 2;
    kind_of(message, tool).filter(|kind| is_one && *kind != TOOL_ERROR)
}

/// The kind of the failure that a short message tells of; none: it tells of none.
fn kind_of(text: &str, tool: Option<&str>) -> Option<&'static str> {
    let whole = first_clause(text, tool)?;
    if prose::is_title(text) || is_deed_of(text, tool) || is_good(text) {
        return None;
    }
    let prints = tool.is_some_and(is_command_line);
    if !prints && !text.starts_with("Warning: ") && is_step_before(text, tool) {
        return Some(TOOL_ERROR);
    }
    let clause = whole.strip_prefix("Warning: ").unwrap_or(whole);
    let is_warning = clause.len() < whole.len();
    let (sentence, _) = first_sentence(text);
    if tells_of_others(clause) || goes_on(clause) || is_done(clause, tool) || is_done(sentence, tool) {
        return None;
    }
    if says_nothing_was_done(text, clause, tool) || is_unknown_thing(clause, tool) {
        return Some(TOOL_ERROR);
    }
    let role = Role::of(tool, clause);
    // A warning that what it shall work on is not clear.
    let asks_first = || {
        let asks = ["ass force", "Please provide ", "Please specify "].iter().any(|words| text.contains(words));
        asks && role.writes && is_ambiguous(clause) && !deeds::tells_of_something_done(text)
    };
    if is_warning && role.is_doing && (denies_deed(clause, tool) || asks_first()) {
        return Some(TOOL_ERROR);
    }
    let is_failure = |of| match of {
        _ if prints => {
            ["REFUSED: ", "BLOCKED: "].iter().any(|word| sentence.starts_with(word)) || is_of_commands(sentence)
        }
        Tools::Given | Tools::Doing | Tools::Changing if is_warning => false,
        of => role.is_one_of(of, clause),
    };
    cues_in(clause, sentence).find(|(of, _, _)| is_failure(*of)).map(|(_, kind, _)| kind)
}

/// The cues in a clause, and in the sentence that it ends: behind `but`, or before it.
fn cues_in(clause: &str, sentence: &str) -> impl Iterator<Item = (Tools, &'static str, &'static str)> {
    let found = [clause, sentence].map(|part| CUE_SET.as_ref().map(|set| set.matches(part.as_bytes())));
    // In other languages, what stands behind a comma or a colon may be a remark on what was done.
    let first =
        LazyCell::new(|| CUE_SET.as_ref().map(|set| set.matches(other_languages::first_part(clause).as_bytes())));
    let is_first = move |cue: &usize| *cue < CUES.len() || first.as_ref().is_some_and(|first| first.matched(*cue));
    found.into_iter().flatten().flatten().filter(is_first).filter_map(|cue| cues().nth(cue))
}

/// Whether a message says that nothing was done, of a tool that should do something.
fn says_nothing_was_done(text: &str, clause: &str, tool: Option<&str>) -> bool {
    const TIDIES: [&str; 7] = ["check", "clean", "format", "lint", "refresh", "sync", "tidy"];
    let may_do_nothing = |tool: &str| has_word(tool, &TIDIES) || !is_writer(tool) && !acts(tool);
    let is_of_others = tool.is_some_and(is_command_line);
    !is_of_others
        && (!tool.is_some_and(gives_text) && has_nothing_to_do(clause, tool)
            || says_none_was_made(clause, tool)
            || !tool.is_some_and(may_do_nothing) && ends_with_nothing_done(text))
}

/// Whether a clause says that what a tool changes is unknown: `unknown session` of `rename_session`.
fn is_unknown_thing(clause: &str, tool: Option<&str>) -> bool {
    let thing = clause.strip_prefix("unknown ").or_else(|| clause.strip_prefix("Unknown "));
    let is_of = |thing: &str| tool.is_some_and(|tool| is_writer(tool) && has_word(tool, &[thing]));
    thing.is_some_and(|thing| thing.len() > 2 && is_of(thing))
}

/// What the name of a tool says that it does, as far as a clause does not speak in general.
struct Role<'t> {
    tool: Option<&'t str>,
    writes: bool,
    gives: bool,
    looks: bool,
    is_doing: bool,
}

impl<'t> Role<'t> {
    fn of(tool: Option<&'t str>, clause: &str) -> Role<'t> {
        let is_general = [" when ", " whenever ", " if "].iter().any(|word| clause.contains(word))
            || ["Sorry", "Unfortunately", "I "].iter().any(|word| clause.starts_with(word));
        let writes = tool.is_some_and(is_writer);
        let names_a_place = || clause.contains("not found:") && tool.is_some_and(|tool| has_word(tool, &["list"]));
        let looks = !writes && tool.is_some_and(looks) && !names_a_place();
        let does = |tool| writes || acts(tool) || !asks(tool) && !is_reader(tool) && !is_shell(tool);
        let is_doing = !is_general && !looks && tool.is_some_and(|tool| !finds_out(tool) && does(tool));
        Role { tool, writes, gives: !writes && tool.is_some_and(gives_text), looks, is_doing }
    }

    /// Whether it is one of the tools of which words are a failure.
    fn is_one_of(&self, tools: Tools, clause: &str) -> bool {
        let Role { tool, writes, gives, looks, is_doing } = *self;
        let lists = |tool| has_word(tool, &["list", "lookup"]) && !has_word(tool, &["check", "status", "test"]);
        match tools {
            Tools::Every => true,
            Tools::Any => !gives && (!looks || tool.is_some_and(lists)),
            Tools::Unasked => !gives && !looks && !tool.is_some_and(asks),
            Tools::Asking => !gives && tool.is_some_and(asks),
            Tools::Given => {
                !looks && tool.is_some() && (!gives || !clause.starts_with("No ") && names_what_it_gives(clause, tool))
            }
            Tools::Doing => !gives && is_doing,
            Tools::Changing => !gives && (writes || tool.is_some_and(acts)),
            Tools::Making => !gives && writes && !tool.is_some_and(records),
        }
    }
}

/// Whether a clause tells what was done in place of what was asked for: `The given address is full, so we took another`.
fn goes_on(clause: &str) -> bool {
    const GIVEN: [&str; 5] = ["given ", "passed ", "provided ", "specified ", "supplied "];
    let what = ["The ", "the ", "Your ", "your "].iter().find_map(|word| clause.strip_prefix(word)).unwrap_or(clause);
    let is_given = GIVEN.iter().any(|word| what.to_ascii_lowercase().starts_with(word));
    is_given && [" so ", " anyway", " we "].iter().any(|words| clause.contains(words))
}

/// Whether a clause says that the call fits more than one thing.
fn is_ambiguous(clause: &str) -> bool {
    static MANY: LazyPattern =
        LazyLock::new(|| patterns::one(r"(?i)\b(appears|found|occurs|matches) \d+ (places|times)\b|\bis ambiguous\b"));
    patterns::matches(&MANY, clause)
}

/// Whether a sentence says which commands a command line takes.
fn is_of_commands(sentence: &str) -> bool {
    let ends = ["commands are allowed", "commands are permitted", "commands are supported", "command not allowed"];
    let sentence = sentence.to_ascii_lowercase();
    (sentence.starts_with("only ") || sentence.starts_with("command not"))
        && ends.iter().any(|end| sentence.ends_with(end))
}

/// Whether the subject of a clause is what the name of the tool says that it gives: `The document x does not exist` of
/// `read_doc`.
fn names_what_it_gives(clause: &str, tool: Option<&str>) -> bool {
    let mut subject = clause.split(' ').filter(|word| !word.eq_ignore_ascii_case("the")).take(2).map(str::to_lowercase);
    let tool = tool.map(words).unwrap_or_default();
    subject.any(|noun| tool.iter().any(|word| word.len() > 2 && noun.starts_with(word.trim_end_matches('s'))))
}

/// The clause that decides what a short message says, without marks. It is the first one, or the one behind `but`. None: the
/// text is longer than a message, or is a list.
fn first_clause<'t>(text: &'t str, tool: Option<&str>) -> Option<&'t str> {
    if text.len() > LONGEST || text.starts_with(['{', '<', '#', '|', '-']) {
        return None;
    }
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_hint =
        |line: &str| line.ends_with([':', '.', '!', '?', ')']) || line.starts_with(['💡', '•', '-', '`', '→', '(']);
    let reads = tool.is_some_and(|tool| is_reader(tool) && !is_writer(tool));
    if lines().count() > MOST_LINES || reads && !lines().skip(1).all(is_hint) {
        return None;
    }
    let (sentence, others) = first_sentence(text);
    let clause = sentence.rsplit(" but ").next()?.trim_end_matches(['.', '!', ':']);
    (!clause.is_empty() && prose::sentences(others) <= 4 && !deeds::tells_of_something_done(others)).then_some(clause)
}

/// The first sentence of a text, without the marks before it, and the rest of its line.
fn first_sentence(text: &str) -> (&str, &str) {
    let first = text.lines().next().unwrap_or_default().trim();
    let first = first.trim_start_matches(|c: char| !c.is_alphanumeric() && !"`'\"(".contains(c));
    let ends = [". ", "! ", "? ", "; ", " — ", " – ", " - ", "。"];
    let end = ends.iter().filter_map(|end| first.find(end)).min().unwrap_or(first.len());
    first.split_at_checked(end).unwrap_or((first, ""))
}

/// Whether a message tells of something that one hopes not to find.
fn is_good(text: &str) -> bool {
    static GOOD: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^\W{0,3}no (\w+ )?(breaking|bugs?|changes?|conflicts?|dependenc\w+|differences?|duplicates?|errors?|exceptions?|failures?|findings?|issues?|leaks?|lint\w*|mistakes?|problems?|regressions?|results?|secrets?|threats?|updates?|violations?|vulnerabilit\w+|warnings?)\b|\bno ([\w-]+ ){0,3}(necessary|needed|required)\b|\b(not (necessary|needed|required)|no need to)\b|\b(0|no) failed\b",
        )
    });
    patterns::matches(&GOOD, text)
}

/// Whether a message ends with what the caller must do before: `Register first.` Of a tool that asks or gives texts, it must
/// name another tool.
fn is_step_before(text: &str, tool: Option<&str>) -> bool {
    static FIRST: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?:^|[.;:!—–(-] ?)(?:[Pp]lease )?[A-Z]?[a-z]+ [^.!?\n]{0,120}\bfirst[.!)]*$|(?:^|[.;:!—–] )[A-Z][a-z]+ first[.!]*$|[^\n]{1,120} must be [a-z]+ first[.!]*$",
        )
    });
    static TOOL: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?:\b(Call|Run|Use) \S*[a-z]_[a-z]\S*[^.!?\n]{0,60} first\b|^No ([\w-]+ ){0,3}(account|browser|connection|database|device|index|model|project|session|workspace) (chosen|configured|connected|found|loaded|open|selected)\. (Call|Run|Use) `?\S*[a-z]_[a-z]\S*$)",
        )
    });
    let steps = ["next", "then", "second"];
    let names_tool = patterns::matches(&TOOL, text);
    let is_first =
        (names_tool || patterns::matches(&FIRST, text)) && !steps.iter().any(|word| text.to_lowercase().contains(word));
    let asks = tool.is_none_or(|tool| !is_writer(tool) && (asks(tool) || is_reader(tool) || gives_text(tool)));
    is_first && (!asks || names_tool)
}

#[cfg(test)]
mod tests {
    use super::super::assess::{Assessment, ToolResult, assess};
    use super::*;

    #[test]
    fn words_in_the_first_clause_tell_that_a_call_came_to_nothing() {
        for (tool, text) in [
            ("get_stock", "Provide a warehouse or a shelf."),
            ("search_notes", "Please supply a text to search for."),
            ("read_note", "`limit` must be at most 50"),
            ("read_note", "Path is a folder: notes/2026"),
            ("get_stock", "warehouse must point to a known place"),
            ("get_stock", "shelf is required"),
            ("get_stock", "depth is limited to 4"),
            ("get_stock", "Invalid stock level \"deep\". Use low, middle, high."),
            ("scan_stock", "Only European warehouses are supported. Got: US"),
            ("get_stock", "Too many shelves (14). At most 8 are read at once."),
            ("move_cursor", "stale_handle: the cursor is from an older view"),
            ("read_note", "NOTES_TOKEN not set.\nCreate one under Profile > Keys."),
            ("read_log", "Warehouse token required. Set WAREHOUSE_TOKEN."),
            ("get_stock", "Scanner not configured"),
            ("move_shelf", "Moving shelves is not permitted unless the owner turns it on. Use another lift."),
            ("write_note", "Status: error\nPermission denied writing b.md"),
            ("scan_stock", "Blocked: the shelf lies outside of your area"),
            ("get_stock", "Stock above the roof not supported"),
            ("scan_stock", "This scan requires an open till"),
            ("get_stock", "A plan with WAREHOUSE_READ scope or higher required."),
            ("get_stock", "Shelf reader: transport error, nothing read"),
            ("get_stock", "No shelf_id in context"),
            ("get_stock", "The stock tool is currently unavailable. Take another one."),
            ("get_stock", "No answer after 60000 ms"),
            ("get_shelf", "Shelf not found: 17B"),
            ("get_shelf", "The shelves don't exist"),
            ("get_shelf", "Sorry, no shelf found at B7."),
            ("run_command", "REFUSED: \"lift up\" has to be confirmed by hand"),
            ("get_shelf", "No shelf matched \"17-B\". Call list_shelves for all."),
            ("get_shelf", "Unknown shelf id: 17B"),
            ("move_shelf", "The shelf is not empty"),
            ("move_shelf", "There's already a shelf at B7"),
            ("update_shelf", "Nothing to update: give a name and/or a place."),
            ("buy_shelf", "Price 412 exceeds the highest price 100. Raise it or wait."),
            ("move_shelf", "Row 7 is reserved"),
            ("wipe_shelf", "Emptying everything requires confirm: true."),
            ("assign_shelf", "No active room selected."),
            ("move_shelf", "The loader closed before loading ended. Ask for another."),
            ("move_shelf", "The move would overwrite shelf 9"),
            ("move_shelf", "Couldn't find the lift"),
            ("move_shelf", "lift-3: not a known lift"),
            ("weigh_shelf", "Weighing failed: the scale shows nothing"),
            ("move_shelf", "Lift appeared but loading did not complete within 120 s."),
            ("place_order", "Agent a7 is asleep. Wake it first."),
            ("list_shelves", "No room chosen. Call choose_room first."),
            ("convert", "无法转换 .a 为 .b"),
            ("move_lift", "Set a place first."),
            ("get_shelf", "Полка 17 не найдена"),
            ("move_shelf", "The lift can't carry 40 kg"),
            ("get_shelf", "No se encontró el estante 17"),
            ("get_shelf", "Das Regal wurde nicht gefunden"),
            ("take", "余额不足"),
            ("get_stock", "The given shelf id \"x\" is not a valid number"),
            ("delete_shelf", "Warning: shelf 7 was not deleted because it is in use"),
            ("move_shelf", "Warning: move refused, the lift is full"),
            ("send_shelf", "Warning: could not send shelf 7"),
            ("write_shelf", "Warning: shelf appears 3 times. Please specify the row."),
            ("search_shelves", "Query is empty"),
            ("reverse_move", "Move 17 has already been reversed"),
            ("list_shelves", "The lift is not configured"),
            ("read_shelf", "No shelf token provided. Please give one."),
            ("describe_shelf", "Missing shelf name. Call as: describe_shelf {}"),
            ("run_command", "Only shelf commands are allowed. Command must start with \"shelf\"."),
            ("move_shelf", "You must connect to a shelf before you look into it."),
            ("download_shelf", "Shop 7: it does not provide shelves"),
            ("download_shelf", "The shop does not provide shelves. Please use the lift."),
            ("get_stock", "The given place was malformed"),
            ("find_shelf", "Please provide the name of a shelf"),
            ("delete_shelves", "More than 40 old rows matched"),
            ("delete_shelf", "Moves in the dark are not supported in this mode"),
            ("tidy", "Nothing to tidy in \"!!!\": no shelves."),
            ("generate_test", "Test generation failed: the shelf has no row"),
        ] {
            assert!(says(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn what_a_tool_that_makes_something_did_not_make_is_a_failure() {
        for (tool, text) in [
            ("create_shelf", "'steep' is not one of ['low', 'high']"),
            ("move_shelf", "Temporarily unavailable"),
            ("move_shelf", "The system is under maintenance until 10:00"),
            ("write_note", "Path ../b escapes the room"),
            ("name_shelf", "Name too long (max 80)"),
            ("create_shelf", "No shelf was created."),
            ("create_shelf", "Like shelf 7, not created"),
            ("pay_shelf", "Your bank declined this transaction."),
            ("pay_shelf", "DECLINED"),
            ("send_shelf", "Message bounced: nobody lives there"),
            ("send_shelf", "0 parcels sent"),
        ] {
            assert!(says(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn what_is_to_be_done_first_and_that_nothing_was_done_tell_it_too() {
        for (tool, text) in [
            ("search_shelves", "No shelf index found. Run build_shelf_index."),
            ("rename_shelf", "unknown shelf"),
            ("rename_session", "unknown session"),
            ("assign_shelf", "Every lift is out. Nobody was assigned."),
        ] {
            assert!(says(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn answers_deeds_and_texts_of_others_are_no_failures() {
        for (tool, text) in [
            ("reject_shelf", "Transfer declined."),
            ("cancel_order", "No fee was charged"),
            ("create_user", "No mail was sent because notifications are off"),
            ("create_draft", "Draft 7, not sent"),
            ("place_trade", "EXECUTED"),
            ("send_rsvp", "Declined"),
            ("update_order", "declined"),
            ("shelf_status", "Delivery failed"),
            ("order_shelf", "Payment refused by ten, paid at eleven"),
            ("send_shelf", "Please confirm receipt: the shelf was sent"),
            ("name_shelf", "Name is too long; cut to 80 characters"),
            ("count_sent", "0 parcels sent"),
            ("create_shelf", "No row was created for it, shelf 7 updated"),
            ("book_room", "Room 7 booked for Friday, the key must be returned by noon"),
            ("add_user", "User ada added, the address is not verified yet"),
            ("create_ticket", "Ticket 12 opened, no action required"),
            ("upgrade_plan", "No subscription required"),
            ("delete_booking", "Booking 12 cancelled"),
            ("revoke_key", "Key k1 is no longer valid."),
            ("get_forecast", "The storm should end by Friday."),
            ("get_cart", "cart is empty"),
            ("get_calendar", "Only Alice can attend on Friday."),
            ("get_task", "Provide feedback on the draft of Q3"),
            ("server_status", "The server is not running"),
            ("get_review", "Battery life too short"),
            ("get_visa_info", "Minors are not allowed to travel alone"),
            ("get_preferences", "contact_by: phone, not email"),
            ("get_availability", "Room 7 is not available in March"),
            ("calculate", "7919 is not divisible by 3"),
            ("get_place_details", "The museum is not open on Mondays"),
            ("get_results", "Kipchoge finished first."),
            ("get_task", "Call mum first."),
            ("bash", "Need to register the domain"),
            ("delete", "Deleted 3 items, 0 failed."),
            ("list_shelves", "No shelves found for room 7"),
            ("find_shelf", "Shelf 17 not found"),
            ("shelf_status", "The shelf is not locked"),
            ("get_shelf", "The shelf is reserved until noon"),
            ("read_note", "Provided by the shop. Nothing to add."),
            ("read_note", "The lift is not configured for heavy shelves"),
            ("explain", "Rows must be sorted"),
            ("bash", "No such luck\nlift is not ready"),
            ("run_script", "The lift is not ready"),
            ("scan_shelf", "No problems found in room 7"),
            ("block_card", "Blocked card 17: no longer valid"),
            ("move_shelf", "Moved the shelf; the lift is not needed any more"),
            ("move_shelf", "Warning: the lift is not locked"),
            ("move_shelf", "Saved, but no longer shown first"),
            ("add_shelf", "Shelf added. It must be filled by hand."),
            ("sync", "Everything is up to date"),
            ("get_shelves", "No open shelves found for \"Ada\""),
            ("get_task", "Please enter the shop from behind"),
            ("tidy", "Nothing to add"),
            ("close_shelf", "No tip was given"),
            ("run_command", "Only two commands were run"),
            ("dream", "nothing to dream about"),
            ("get_shelf", "The shop does not provide shelves"),
            ("connection_status", "Lift not connected"),
            ("add_shelf", "Warning: added shelf 7 in row 2. Please specify the row."),
            ("search_shelves", "No shelves found. Use search_all_shelves."),
            ("format_shelf", "All is straight. Nothing was changed."),
            ("get_shelf", "It is empty. Nothing was added."),
            ("update_shelf", "The name is the same; nothing was changed."),
            ("get_rules", "A key is required."),
            ("search_shelves", "The lift is not configured for heavy shelves"),
            ("scan_shelf", "the scan is like what you have already seen"),
            ("delete_shelf", "Warning: the photo of shelf 7 was not moved"),
            ("send_shelf", "Warning: no lift remains"),
            ("send_shelf", "Warning: 3 shelves are heavy. Please check them."),
        ] {
            assert!(!says(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn a_message_of_one_clause_names_its_kind() {
        let of = |tool, text| kind(text, Some(tool));
        assert_eq!(of("get_stock", "Provide a warehouse or a shelf."), Some(ARGUMENTS));
        assert_eq!(of("get_stock", "The scanner credentials are missing"), Some(UNAUTHORIZED));
        assert_eq!(of("scan_stock", "Blocked: the shelf lies outside of your area"), Some(FORBIDDEN));
        assert_eq!(of("get_shelf", "Unknown shelf id: 17B"), Some(NOT_FOUND));
        assert_eq!(of("move_shelf", "The shelf is not empty"), None);
        assert_eq!(of("pay", "The receipt must be signed and the card was charged"), None, "it may be half-way");
    }

    /// Whether a result failed, and its kind.
    fn assessed(tool: &str, text: &str) -> String {
        let result = ToolResult { body: Some(text), tool: Some(tool), ..ToolResult::default() };
        match assess(&result) {
            Assessment::Ok => "ok".to_owned(),
            Assessment::Failed(failure) => failure.kind,
            Assessment::Suspected(failure) => format!("suspected {}", failure.kind),
        }
    }

    #[test]
    fn answers_in_the_words_of_a_refusal_are_none() {
        let answers = [
            ("create_order", "The given address is not deliverable, so we shipped to the pickup point instead."),
            ("send_sms", "The given number is not on your contact list, sent anyway"),
            ("create_user", "The given name was not unique, a suffix was added"),
            ("place_bid", "The given bid is not the highest"),
            ("list_facts", "Specified complexity is not science"),
            ("start_login", "Please enter the code that we sent to your phone."),
            ("request_otp", "Please enter the code sent to +49"),
            ("start_payment", "Please enter your code in the app to go on"),
            ("book_room", "Please enter your room number at the door. Room 7 booked."),
            ("clear_search", "Search query is empty"),
            ("add_item", "Warning: item was not addressed to anyone"),
            ("cancel_trip", "Warning: this is not cancer advice"),
            ("set_lamp", "Warning: the bill is not settled"),
            ("restart_pod", "Warning: old pod refused to terminate, restarting"),
            ("reset_password", "Warning: password reset. Please check spam first."),
            ("get_wifi", "The printer is not connected"),
            ("list_devices", "Living room TV not connected"),
            ("get_product", "Not available in this region"),
            ("get_lab_result", "Result is above the upper limit of normal"),
            ("check_size", "File size is over the limit"),
            ("firewall_add", "Firewall blocked a request to 10.0.0.1"),
            ("get_requirements", "You need to register within 30 days."),
            ("sync_files", "Nothing to sync."),
            ("format_code", "Nothing to format"),
            ("clean", "Nothing to clean"),
            ("process_queue", "No jobs to process in queue"),
            ("remind", "Nothing to remind for today"),
            ("book_table", "No need to book for two"),
            ("clear_queue", "No jobs remain"),
            ("clear_password", "No password is set"),
            ("bash", "nothing to commit, working tree clean"),
            ("git", "nothing to commit, working tree clean"),
            ("buscar_cliente", "No se encontraron clientes."),
        ];
        let wrong: Vec<_> = answers
            .iter()
            .map(|(tool, text)| (tool, text, assessed(tool, text)))
            .filter(|(_, _, is)| is != "ok")
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        for (tool, text) in [
            ("delete_rows", "More than 10 rows matched"),
            ("set_topic", "The query is empty"),
            ("water_plants", "The specified pump did not stop"),
            ("transfer", "The specified account could not be fully debited"),
            ("import_rows", "Too many duplicate rows"),
            ("purge", "More than 40 old rows matched"),
        ] {
            assert_ne!(assessed(tool, text), ARGUMENTS, "{tool}: {text}");
        }
        assert_eq!(assessed("buscar_cliente", "No se encontró el cliente 7"), "tool_error");
    }
}
