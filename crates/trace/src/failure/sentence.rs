//! The forms of the sentences by which tools word failures, whatever the things and the values are called: `X not found in Y`,
//! `Unknown X 'y'`, `X must be Y`, `X is already Z`. A short result that is nothing but such a sentence is a failure.

use std::sync::LazyLock;

use super::deeds::{self, is_deed_of};
use super::kinds::{
    self, ARGUMENTS, CONFLICT, FORBIDDEN, NOT_FOUND, QUOTA, RATE, REJECTED, SERVER, TIMEOUT, TOOL_ERROR, UNAUTHORIZED,
    UNKNOWN_TOOL,
};
use super::patterns::{self, LazyPattern, LazySet};
use super::prose;
use super::tool_name::{self, asks, gives_text, is_command_line, is_reader, is_writer, words};

/// The longest result that is one sentence, in bytes.
const LONGEST: usize = 240;

/// How a tool must work for a form to be its own failure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Any tool but one that gives texts of others.
    Any,
    /// A tool that does not look whether something is there.
    Given,
    /// A tool that does something: from others, the state of a thing is an answer.
    Doing,
    /// A tool whose name says that it changes something.
    Changing,
}

/// Forms of whole sentences. `…` stands for up to ten words, `¤` for a value in quotes. The first that
/// matches names the kind.
pub(super) const FORMS: [(&str, Work, &str); 29] = [
    (
        UNKNOWN_TOOL,
        Work::Any,
        r"^(no (such )?tool( named| called)? ¤|(tool|function) \S+ (is not available|does not exist)( in this …)?)$",
    ),
    (
        REJECTED,
        Work::Any,
        r"^(the |this )?(user|customer) (rejected|declined|denied|refused) (this|the|that|your) …$|^… (was |were )?(rejected|declined|denied) by (the )?user$|^the user (did not|didn't) (accept|allow|approve|confirm) …$",
    ),
    // credentials
    (
        UNAUTHORIZED,
        Work::Any,
        r"^(?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]*)( environment variable| env var)? (is |was )?(not set|missing|not configured|not defined|required)$",
    ),
    (
        UNAUTHORIZED,
        Work::Any,
        r"^(you (must|need to) be|you are not|not) (logged|signed) in( …)?$|^(\S+: )?(session|token|access token) (has |is )?(expired|invalid) or (expired|invalid|revoked)$|^(\S+ ){0,2}(login|sign-?in|auth|log-?in) failed(: …)?$|^(please )?(log|sign) in( first| to …)?$|^(login|sign-?in) (is )?required$|^(invalid_grant|not_authed|invalid_auth|token_revoked)$",
    ),
    // rights
    (
        FORBIDDEN,
        Work::Any,
        r"^(the )?(user|caller|agent|client|app|bot|account|role)( \S+)? (is not|isn't) (authori[sz]ed|allowed|permitted) to …$|^you (are not|aren't) (allowed|permitted|authori[sz]ed) to …$|^(the |this )?(user|caller|account|role|token)( \S+)? lacks (the )?(permissions?|scope|role|rights?) …$|^this (action|operation|tool|command|call) requires (the )?… (role|permissions?|scope|rights)$|^path traversal (is )?not allowed$|^access to … is (restricted|limited|forbidden|not allowed)( …)?$|^(the |this )?(server|database|workspace|repository|account|system) is (in )?read-only( mode)?(; write … are disabled)?$",
    ),
    // how much and how often
    (
        RATE,
        Work::Any,
        r"^(slow down|(the )?request (was )?throttled|you are being rate limited|(api |request )limit (was )?(reached|exceeded)|you('re| are) \w+ing( \w+)? too (quickly|fast|often))([;:!,.] …)?$",
    ),
    (
        QUOTA,
        Work::Any,
        r"^(… )?(quota|allowance|credits?)( of …)? (has been |have been |is |are |was )?(exhausted|used up|exceeded)$|^(… )?(has|have) run out of credits$|^(not enough|insufficient) credits(: .*)?$|^(plan|usage|subscription) limit (was |has been )?(reached|exceeded)(: .*)?$|^you(ve| have|'ve)? (exceeded|reached|used up) your (daily|weekly|monthly|hourly|plan) (limit|quota|allowance)( …)?$|^no (\w+ )?(calls|credits|minutes|requests|searches|tokens)( are)? (left|remaining)( …)?$",
    ),
    // no answer, or no working server
    (
        TIMEOUT,
        Work::Any,
        r"^… (exceeded the time limit|took too long)( …)?$|^no (response|answer|reply) from … within \d+ \w+$|^… did not (answer|appear|become|complete|finish|load|respond|start)( …)? within …$",
    ),
    (
        SERVER,
        Work::Any,
        r"^(the )?(… )?(service|server|backend|api|gateway|database|upstream) (is|are) (currently |temporarily )?(unavailable|down|offline|unreachable|overloaded|not responding)( for …| at the moment| right now)?$|^(the )?(upstream|server|backend|service|api) (returned|responded with|answered with)( status| http)? 5\d\d( …)?$|^(the )?(… )?(service|server|backend|api|upstream) returned an error$|^the server encountered an (unexpected|internal) (condition|error)$",
    ),
    (
        SERVER,
        Work::Any,
        r"^(could not|couldn't|cannot|can't|unable to|failed to) (reach|contact|connect to|resolve host) …$|^lost (the )?connection to …$|^(the )?(\S+ )?connection (to … )?(was |is )?(lost|dropped|(closed|terminated) unexpectedly)$|^((error )?trying to connect: )?dns error(: …)?$",
    ),
    // what is not there
    (
        NOT_FOUND,
        Work::Given,
        r"^(the |this |requested |specified )*… (was |were |is |could )?not (be )?(found|located) (in|on|at|under|within|for|with|by) …$|^… not found: …$|^… (was |is |could )?not (be )?located$|^… could not be found$|^… has no (attribute|column|field|key|page|property|sheet) ¤$",
    ),
    (
        NOT_FOUND,
        Work::Given,
        r"^… (does not|doesn't) exist( (in|on|at|under|within|for) …)?(: …)?$|^(cannot|could not|can't) \S+ …: it (does not|doesn't) exist$|^… has been deleted or never existed$",
    ),
    // by its name alone: the sentence may be one of several that name the kind
    (TOOL_ERROR, Work::Given, r"^(the |this |requested |specified )*… (was )?not found$"),
    (
        NOT_FOUND,
        Work::Given,
        r"^(there is )?no [\w-]*[^s\W]( \w+){0,2} ((was |is )?found )?(with|matches|matching|for|under|by|has) (the )?([\w-]+ ){0,2}(id|number|name|code|key|slug|handle|reference|ref)\b …$|^no [\w-]*[^s\W] with (id|name|number) \S+ (was )?found$|^(could not|couldn't|cannot|unable to|failed to) (find|locate) (the )?(\w+ )?¤( …)?$|^no match for ¤$|^no \w+ matching ¤ (was |were )?found$",
    ),
    (
        NOT_FOUND,
        Work::Given,
        r"^(the )?\w+ ¤ (is not known|is unknown|is not available|not in …)$|^unknown (\w+ )?(account|board|branch|calendar|card|channel|city|code|coupon( code)?|contact|customer|device|document|group|id|invoice|item|list|location|member|node|object|order|product|project|record|region|repo|repository|resource|sku|station|symbol|team|ticket|user|workspace)( id| code| name)?:? \S+$|^\w+ \S+ does not belong to …$|^(pathspec )?¤ did not match any …$|^[a-z]+(_[a-z]+)*_not_found$",
    ),
    // values of the request
    (
        ARGUMENTS,
        Work::Any,
        r"^(unknown|unrecogni[sz]ed|unsupported|unexpected|invalid|illegal|malformed) (\w[\w-]* ){0,3}(action|address|argument|attribute|category|character|choice|code|command|currency|date|direction|encoding|expression|extension|field|filter|flag|format|interval|key|kind|language|level|locale|method|metric|mode|name|operation|operator|option|order|parameter|priority|property|query|range|scope|setting|stage|status|syntax|time|timezone|type|unit|url|value)(: …|:? ¤)( for …| in …)?$",
    ),
    (
        ARGUMENTS,
        Work::Any,
        r"^(\S+ ){1,3}(is|are) (invalid|malformed|not supported|unsupported|not allowed|out of (range|bounds)|not an? ((absolute|allowed|existing|known|recogni[sz]ed|supported|valid) \w+( \w+)?|date|directory|file|(git )?repository|integer|list|number|path|string|table|url))(: (¤|\S+))?$|^¤ is not an? (valid|supported|known|allowed) \w+( \w+)?$|^\w+ (not supported|unsupported): \S+$|^(\w+ ){0,2}(index|offset|position|page|line|row) -?\d+ (is )?out of (range|bounds)$",
    ),
    (
        ARGUMENTS,
        Work::Any,
        r"^(\S+ ){1,4}(must|should) be (positive|negative|different|numeric|unique|true|false|after|before|later|earlier|between|integer|string|number|boolean|an?|\d+|numbers|integers|strings|lists?|arrays?|in … format|one of)\b.*$|^(\S+ ){1,3}(must not|cannot|can't|may not|should not) (exceed|be (longer|shorter|greater|less|larger|smaller|more|in the (past|future)|empty|null|blank|negative|zero))\b[^,;]*$|^(\S+ ){1,2}must (start|begin|end) with …$",
    ),
    (
        ARGUMENTS,
        Work::Any,
        r"^(\w+, )*\w+,? (and|or) \w+ (are|is) (required|mandatory|missing)$|^(\S+ ){1,3}(is|are) required (for|when|if|to|by|with) …$|^missing (required )?(parameters?|arguments?|fields?|propert(y|ies)|values?): .+$|^(either )?(\w+ or \w+|at least one (\w+ )?(field|parameter|argument|value|option|property)) (must be|is|are) (given|provided|specified|supplied|set|required)( …)?$|^you must (specify|provide|give|supply|pass|set) (either |at least )…$|^(\w+ ){1,3}is mandatory$|^no \w+( \w+)? (was|were) specified$|^no (\w+ ){0,2}(fields|changes|updates|values|attributes|properties)( to \w+)? (were |was )?(given|provided|specified|supplied)$",
    ),
    (
        ARGUMENTS,
        Work::Any,
        r"^(parameter|argument) ¤ (is|has|must|should|cannot|contains|does) …$|^(the )?(arguments?|parameters?) (do|does) not (match|fit) …$|^expected (¤ to be )?an? (array|boolean|date|integer|list|number|object|string)( of \w+)?(,? (but )?(got|received|was) \w+)?$|^too (many|few) \w+( \w+)?: \d+$|^(\S+ ){1,3}must (differ from|have the same) …$|^(unable to|cannot|could not|failed to) parse (the )?(date|time|datetime|number|duration|expression|url|amount|argument|parameter)(:? ¤)?$|^(\w+ ){1,3}too (large|long|short|small|high|low): \S+$|^[\w.]+ is in the past$|^(\w+ ){1,2}(time|date) is in the past$",
    ),
    (
        TOOL_ERROR,
        Work::Any,
        r"^only (\S+ ){1,4}(is|are|can be) …$|^(schema|type|version|checksum|hash) mismatch(: .*)?$|^(the )?(request|body|input|payload|document|data)( body)? failed validation(: .*)?$|^(not connected|not initiali[sz]ed)( …)?$|^no active ([\w-]*[^s\W] )?\w*[^s\W]( (available|for|found|in|on|to|with) …| found)?$|^search string appears \d+ times …$|^…; provide more context …$",
    ),
    // the state of what is there
    (
        CONFLICT,
        Work::Doing,
        r"^(the |an? )?… already exists( (in|on|at|under|within|with) …)?(: \S+)?$|^… is already (in use|taken|used)( …)?$|^… conflicts with …$|^\w+ taken$|^merge conflict( …)?$|^(the )?(requested )?(time )?slot (is|was) (no longer|not) available$",
    ),
    (
        TOOL_ERROR,
        Work::Doing,
        r"^… (is|are|was|has|have) already (an? )?[\w-]+( (in|of|to|by|on|for|with) …| progress)?$|^(gift )?(card|code|coupon|voucher|ticket|token) already (used|redeemed)$|^an? … is already \w+( …)?$",
    ),
    (
        TOOL_ERROR,
        Work::Doing,
        r"^… (is|are) (out of stock|sold out|empty|not (sufficient|enough|refundable|cancell?able|editable|eligible|active|open|ready|enabled|available|in …|installed|configured|connected|running)( yet)?)( (for|on|in|at|from|to) …)?$|^… (has|have) no …$|^only \w+ … can be \w+$|^… must be \w+ (before|first|until)( …)?$|^… (exceeds|exceeded) the …$",
    ),
    (
        TOOL_ERROR,
        Work::Doing,
        r"^… (cannot|can't|could not|couldn't) be [a-z]+( (because|until|while|as|after|before|since|to|in|on|by|from|for|at) …)?$|^… (was |is )?(unsuccessful|not successful)$|^\w+ aborted with \d+ errors?$",
    ),
    (
        TOOL_ERROR,
        Work::Any,
        r"^(\S+ ){1,3}(raised|threw):? [A-Z]\w*(\(.*\)|: .*|)$|^[\w.-]+ (is |was )?not installed$|^¤ command not found$",
    ),
    // what stands in the way of a change
    (
        TOOL_ERROR,
        Work::Changing,
        r"^… (is|are|was|were|has|have|does|do|did)( not|n't) (been )?[a-z]+( …)?$|^… (still has|contains?|overlaps( with)?|lacks|needs|requires) …$|^… was (changed|modified|updated) by (another|someone|somebody) …$",
    ),
    (
        TOOL_ERROR,
        Work::Changing,
        r"^… (is|are|was|were|has been|have been) (closed|corrupt(ed)?|cancelled|deactivated|disabled|encrypted|expired|frozen|full|inactive|interrupted|locked|offline|on hold|overdue|suspended|unavailable)$|^only \w+ can …$|^too (many|few|late|early) …$|^(\w+ ){1,4}limit (was |has been )?(exceeded|reached)$|^… (crashed|returned no \w+)$",
    ),
    (TOOL_ERROR, Work::Doing, r"^(confirmation|approval|consent) (was )?not (given|granted)(; … not executed)?$"),
];

static FORM_SET: LazySet = LazyLock::new(|| patterns::set(whole().iter().map(String::as_str)));

/// The forms as patterns.
pub(super) fn whole() -> Vec<String> {
    const WORDS: &str = r"(?:[^ ,;]*[^ ,;:] ){0,9}[^ ,;]*[^ ,;:]";
    const QUOTED: &str = r"(?:'[^'\n]{1,80}'|\x22[^\x22\n]{1,80}\x22|`[^`\n]{1,80}`)";
    FORMS.iter().map(|(_, _, form)| format!("(?i){}", form.replace('…', WORDS).replace('¤', QUOTED))).collect()
}

/// The one sentence that a text is, without its end, a remark in brackets and the advice behind it.
fn only_sentence(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_remark = ["warning:", "caution:", "note:"].iter().any(|mark| text.to_ascii_lowercase().starts_with(mark));
    if text.len() > LONGEST || is_remark || text.contains('\n') {
        return None;
    }
    let (first, rest) = text.split_once(". ").unwrap_or((text, ""));
    let is_advice = |rest: &str| {
        let rest = rest.trim_start();
        let tells_more = ["Must", "Expected", "Is", "Example", "Provided"].iter().any(|word| rest.starts_with(word));
        let repeats = rest.trim_end_matches('.').ends_with("not found");
        tells_more || repeats || prose::asks_the_reader(rest) || prose::begins_with_choices(rest)
    };
    let first = first.trim_end_matches(['.', '!']);
    let bare = first.strip_suffix(')').and_then(|first| Some(first.rsplit_once(" (")?.0)).unwrap_or(first);
    let bare = bare.rsplit_once(", got ").map_or(bare, |(bare, _)| bare);
    let joined = [
        " but ",
        " so ",
        " now ",
        " will ",
        " although ",
        " instead",
        " anyway",
        " any more",
        " skipped",
        " up to date",
    ];
    ((rest.is_empty() || is_advice(rest))
        && (bare.starts_with("Expected ") || !joined.iter().any(|word| bare.contains(word))))
    .then_some(bare)
}

/// The forms that a sentence has.
fn forms_of(sentence: &str) -> impl Iterator<Item = (&'static str, Work)> {
    let found = FORM_SET.as_ref().map(|set| set.matches(sentence.as_bytes()));
    found.into_iter().flat_map(|found| found.into_iter().collect::<Vec<_>>()).filter_map(|form| {
        let (kind, of, _) = FORMS.get(form)?;
        Some((*kind, *of))
    })
}

/// Whether a text is nothing but a sentence of a failure of the tool.
pub(super) fn says(text: &str, tool: Option<&str>) -> bool {
    let Some(sentence) = only_sentence(text) else { return false };
    let tool_words = tool.map(words).unwrap_or_default();
    let has = |list: &[&str]| tool_words.iter().any(|word| list.contains(&word.as_str()));
    if tool.is_some_and(|tool| gives_text(tool) && !is_writer(tool))
        || tool.is_some_and(is_command_line)
        || prose::is_title(text)
        || deeds::tells_of_others(sentence)
        || is_deed_of(text, tool)
    {
        return false;
    }
    let is_doing = tool.is_some_and(|tool| is_writer(tool) || !asks(tool) && !is_reader(tool));
    let is_changing = tool.is_some_and(is_writer) || is_doing && has(&CHANGES);
    // What was done, or is what the tool is for: `Order 12 is on hold` of `hold_order`.
    let is_done = sentence.contains(" and ")
        || deeds::tells_of_something_done(text) && !sentence.contains(" not ")
        || sentence.rsplit(' ').next().is_some_and(|state| tool_words.iter().any(|word| word == state));
    let looks = tool.is_some_and(tool_name::looks);
    let is_own = |of| match of {
        Work::Any => true,
        Work::Given => !looks && tool.is_some(),
        Work::Doing => is_doing && !looks,
        Work::Changing => is_changing && !is_done,
    };
    forms_of(sentence).any(|(_, of)| is_own(of))
}

/// Words of tools that change something, beside those of [`is_writer`].
pub(super) const CHANGES: [&str; 22] = [
    "approve",
    "archive",
    "buy",
    "checkin",
    "checkout",
    "convert",
    "crawl",
    "order",
    "print",
    "redeem",
    "register",
    "render",
    "reserve",
    "schedule",
    "ship",
    "sign",
    "start",
    "subscribe",
    "switch",
    "tag",
    "unlock",
    "withdraw",
];

/// The kind that the form of a message names. A kind that proves that nothing was done is that of the whole message, or of
/// the cause behind a prefix that names what the tool does.
pub(super) fn kind(message: &str, tool: Option<&str>) -> Option<&'static str> {
    static PREFIX: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(?:error|failed to|unable to|could not|couldn't|cannot|can't) ([a-z]+) [^:\n]{1,120}?: |^(?:error|failed to|unable to|could not|couldn't|cannot|can't) ([a-z]+): ",
        )
    });
    static MARK: LazyPattern = LazyLock::new(|| {
        patterns::one(r"(?i)^(?:[❌✗✘🚫⛔💥❗🛑⚠\u{fe0f}\s]+|error: |error \([A-Z_]+\): |error executing tool \S+: )+")
    });
    let line = message.trim();
    let line = MARK.as_ref()?.find(line).and_then(|mark| line.get(mark.end()..)).unwrap_or(line);
    let prefix = PREFIX.as_ref()?.captures(line);
    let of = |sentence: &str| forms_of(only_sentence(sentence)?).map(|(kind, _)| kind).next();
    let whole = of(line);
    let known = |kind: &&str| *kind != TOOL_ERROR;
    // Behind a word that joins, something may have been done.
    let is_one = |text: &str| {
        let text = text.replace(" be after ", " be ");
        let range =
            text.split_once(" be between ").map(|(what, range)| format!("{what} {}", range.replacen(" and ", "-", 1)));
        let text = range.unwrap_or(text);
        ![" and ", " then ", " after "].iter().any(|word| text.contains(word))
    };
    if whole.is_some() {
        return whole.filter(known).filter(|kind| !kinds::proves_nothing_happened(kind) || is_one(line));
    }
    let prefix = prefix?;
    let verb = prefix.get(1).or(prefix.get(2))?.as_str().to_ascii_lowercase();
    let cause = line.get(prefix.get(0)?.end()..)?;
    let stem = |word: &str| word.get(..word.len().min(5)).unwrap_or(word).trim_end_matches("ing").to_owned();
    let is_of_tool = || {
        let tool = tool.map(words).unwrap_or_default();
        tool.iter().any(|word| word.len() > 2 && stem(word).starts_with(&stem(&verb)) || stem(&verb) == stem(word))
    };
    let is_missing = || forms_of(cause.trim_end_matches(['.', '!'])).any(|(_, of)| of == Work::Given);
    of(cause)
        .map(|kind| if kind == TOOL_ERROR && is_missing() { NOT_FOUND } else { kind })
        .filter(known)
        .filter(|kind| !kinds::proves_nothing_happened(kind) || is_of_tool() && is_one(cause))
}

#[cfg(test)]
mod tests {
    use super::super::assess::{Assessment, ToolResult, assess};
    use super::*;

    #[test]
    fn a_sentence_of_a_failure_is_known_by_its_form_and_names_its_kind() {
        for (tool, text, named) in [
            ("call", "no such tool 'launch'", UNKNOWN_TOOL),
            ("sync", "CRM_API_KEY is missing", UNAUTHORIZED),
            ("sync", "Access to payroll data is restricted to managers", FORBIDDEN),
            ("archive", "Cannot archive note 17: it does not exist", NOT_FOUND),
            ("open", "Unknown device: d_9", NOT_FOUND),
            ("pay", "The user did not confirm the payment", REJECTED),
            ("get_page", "The page could not be found", NOT_FOUND),
            ("create_poll", "Too many options: 30 (maximum 10)", ARGUMENTS),
            ("wait_for", "The picture did not appear within 5000 ms", TIMEOUT),
            ("sync", "CRM_API_KEY environment variable is not set", UNAUTHORIZED),
            ("sync", "You must be signed in to see the board", UNAUTHORIZED),
            ("approve", "User bob is not authorized to approve orders", FORBIDDEN),
            ("post", "Slow down! You are being rate limited.", RATE),
            ("post", "Monthly allowance of 100 posts used up", QUOTA),
            ("get_report", "The report took too long to build", TIMEOUT),
            ("get_stock", "The stock service is currently down for maintenance", SERVER),
            ("get_stock", "Could not reach the warehouse", SERVER),
            ("get_seat", "Seat 14C not found on flight HAT268.", NOT_FOUND),
            ("get_plan", "Plan gold doesn't exist in this region", NOT_FOUND),
            ("get_guest", "No guest found with badge number 77", NOT_FOUND),
            ("get_item", "Unknown coupon code: SPRING", NOT_FOUND),
            ("get_item", "variant_id 5512 does not belong to product 81", NOT_FOUND),
            ("convert", "Unsupported currency 'XBT'. Supported: EUR, CHF", ARGUMENTS),
            ("crop", "Page 12 out of range (9 pages)", ARGUMENTS),
            ("list_orders", "The page size must not exceed 100", ARGUMENTS),
            ("update_deal", "At least one field must be provided", ARGUMENTS),
            ("crop", "Parameter 'depth' has invalid value -2", ARGUMENTS),
            ("add_tag", "Tag 'red' already exists in shop 3", CONFLICT),
        ] {
            assert!(says(text, Some(tool)), "{text}");
            assert_eq!(kind(text, Some(tool)), Some(named), "{text}");
        }
        for (tool, text) in [
            ("get_order", "Order o_91 not found"),
            ("run_sql", "Only SELECT statements are allowed"),
            ("book_room", "Room 7 is already booked for Monday"),
            ("buy", "The blue lamp is sold out"),
            ("resize", "The picture could not be resized to 12 px"),
            ("deploy", "serve deploy raised: RuntimeError('gone')"),
            ("transfer", "Confirmation not given; transfer not executed"),
            ("ship_order", "Order 12 has not been paid yet"),
            ("ship_order", "Order 12 is on hold"),
            ("create_event", "This event overlaps with 'Standup'"),
        ] {
            assert_eq!((says(text, Some(tool)), kind(text, Some(tool))), (true, None), "{text}");
        }
    }

    #[test]
    fn the_same_words_in_an_answer_or_a_longer_text_are_no_failure() {
        for (tool, text) in [
            ("validate_coupon", "Coupon SAVE10 not found in the list"),
            ("find_user", "No user found with id 5"),
            ("get_order", "Order 12 has not been paid yet"),
            ("get_order", "Order 12 is on hold"),
            ("hold_order", "Order 12 is on hold"),
            ("update_user", "User 7 is already up to date"),
            ("sync", "Nothing to sync"),
            ("cancel_order", "Order 771 has been cancelled."),
            ("create_order", "Order 17 was created and requires approval by a manager"),
            ("mute_channel", "You will not be notified of new messages"),
            ("delete_page", "Page deleted. It does not exist any more."),
            ("send", "Message sent. Bob is offline."),
            ("read_file", "Options must be unique"),
            ("get_user", "Bob is not an admin"),
            ("check_room", "Room 7 is already booked for Monday"),
            ("get_room", "Room 7 is already booked for Monday"),
            ("get_parcel", "The parcel could not be delivered on Monday"),
            ("search_flights", "No flights available on 2024-05-18 from SFO to ZRH."),
            ("list_alerts", "No active alerts"),
            ("read_policy", "Orders must be unique. They are checked each night."),
            ("read_note", "Deploys on Fridays are not allowed"),
            ("send_mail", "Template footer not found, mail sent without it"),
            ("move_card", "Moved card 'Unknown status' to Done"),
            ("block_card", "The card is now blocked and cannot be used for payments."),
            ("import", "Row 7 not found in the table. 12 rows were imported."),
            ("do_it", "Warning: the upload is invalid"),
            ("set_status", "Order 12 not found\nOrder 13 updated"),
        ] {
            assert!(!says(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn a_cause_behind_a_prefix_names_the_kind_if_it_is_that_of_the_call() {
        let of = |tool, text| kind(text, Some(tool));
        assert_eq!(of("remove_project", "Failed to remove project: Project 'ghost' not found"), Some(NOT_FOUND));
        assert_eq!(of("manage", "Error (ERROR): Unknown action: 'boot'"), Some(ARGUMENTS));
        assert_eq!(of("create_event", "Error creating event: Invalid date: 'x'"), Some(ARGUMENTS));
        assert_eq!(of("charge_card", "Failed to send receipt: Invalid address: 'x'"), None, "the card may be charged");
        assert_eq!(of("rate", "Rating must be between 1 and 5, got 9"), Some(ARGUMENTS));
        assert_eq!(of("charge_card", "Receipt: Invalid address: 'x'"), None);
        assert_eq!(of("refund", "refund created: mail not found"), None);
        assert_eq!(of("refund", "You are not allowed to mail the receipt and the refund is out"), None);
    }

    #[test]
    fn answers_and_deeds_in_the_words_of_these_forms_are_no_failures_and_a_timeout_is_one() {
        let assessed = |tool, text| {
            let result = ToolResult { body: Some(text), tool: Some(tool), ..ToolResult::default() };
            match assess(&result) {
                Assessment::Ok => "ok".to_owned(),
                Assessment::Failed(failure) | Assessment::Suspected(failure) => failure.kind,
            }
        };
        let wrong: Vec<_> = [
            ("find_pets", "Missing cat and dog", "ok"),
            ("list_diffs", "Missing foo and bar", "ok"),
            ("timeout_member", "Timed out ada for 10 minutes", "ok"),
            ("timeout_member", "Timed out waiting for ada", TIMEOUT),
            ("run_with_timeout", "Timed out while running", TIMEOUT),
            ("set_timeout", "Timed out connection to db", TIMEOUT),
        ]
        .into_iter()
        .map(|(tool, text, is)| (tool, text, is, assessed(tool, text)))
        .filter(|(_, _, is, found)| is != found)
        .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
