//! Whether words tell of a deed that was done, or say that nothing was. What is a failure is left to others.

use std::sync::LazyLock;

use super::alternatives::Alternatives;
use super::excerpt::cut;
use super::patterns::{self, LazyPattern};
use super::tool_name::words;
use super::word_list::WordList;

/// Participles of deeds, wherever they stand.
static DEEDS: WordList = WordList::of(
    "added|applied|booked|captured|changed|charged|committed|completed|copied|created|deleted|delivered|emailed|enqueued|executed|forwarded|imported|inserted|issued|made|mailed|migrated|moved|paid|placed|posted|processed|published|pushed|queued|refunded|removed|saved|scheduled|sent|shipped|submitted|succeeded|transferred|updated|uploaded|written",
);

/// Words that tell of a deed and do not end in -ed.
static IRREGULAR: WordList = WordList::of(
    "built complete done made ok okay paid put ready sent set success successful successfully wrote written",
);

/// Words like participles that tell of no deed: how things are, what was asked for, what came to nothing.
static NO_DEEDS: WordList = WordList::of(
    "aborted allowed attempted authenticated authorized based blocked cancelled canceled called \
    configured declined denied deprecated enabled encountered errored exceeded exhausted expected expired failed \
    forbidden ignored interrupted limited malformed missed named need needed occurred omitted permitted planned provided \
    reached received refused rejected requested required restricted retried skipped speed supported throttled timed \
    unauthorized undefined unprocessed unsupported used wanted",
);

/// Words that deny, doubt or limit.
static NEGATIVE: WordList = WordList::of(
    "already cannot error errors exceeds fail failed failure invalid missing must never no nobody none \
    not nothing only refused rejected denied required unable unknown unless unsupported insufficient sorry unfortunately",
);

/// Words of a deed and of its denial in languages that are not English.
static FOREIGN_DEED: LazyPattern = LazyLock::new(|| {
    patterns::one(
        r"(?i)成功|已|完成|しました|完了|했습니다|되었습니다|완료|성공|успешно|\b(cread|enviad|guardad|actualizad|eliminad|realizad|criad|salv|exclu[ií]d)[oa]s?\b|correctamente|con éxito|com sucesso|avec succès|\b(créée?|envoyée?|supprimée?|enregistrée?)s?\b|erfolgreich|gespeichert|angelegt|gelöscht|gesendet|con successo|pomyślnie|úspěšně|başarıyla|berhasil|thành công|بنجاح|सफलतापूर्वक|สำเร็จ",
    )
});
static FOREIGN_DENIAL: LazyPattern = LazyLock::new(|| {
    patterns::one(
        r"(?i)未|不|没|無|无法|失败|失敗|ません|않|없|못|실패|(^|[ ,])(no|n[ãa]o|не|nicht|pas|non|nie|ne|tidak|không|gagal)( |$)|değil|لم|नहीं|ไม่",
    )
});

/// Alternatives that name [`DEEDS`], as their words do.
fn of_deeds(all: &[(&str, &str)]) -> Alternatives {
    let (deeds, words) = (DEEDS.to_string(), DEEDS.to_string().to_uppercase());
    Alternatives::of(all.iter().map(|(one, own)| (one.replace("{DEEDS}", &deeds), own.replace("{DEEDS}", &words))))
}

/// The words of a text, in small letters.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Whether a word in small letters is the participle of a deed.
fn is_deed(word: &str) -> bool {
    let is_past = word.len() > 4 && word.ends_with("ed") && word.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_past || IRREGULAR.has(word)) && !NO_DEEDS.has(word)
}

fn is_negative(word: &str) -> bool {
    NEGATIVE.has(word) || word.ends_with("n't")
}

/// Whether an answer reports a deed and its first sentence denies nothing.
pub(super) fn reports_a_deed(text: &str, tool: Option<&str>) -> bool {
    let first = text.split(['.', '!', '\n', ';']).find(|part| !part.trim().is_empty()).unwrap_or(text);
    if !text.is_ascii() && patterns::matches(&FOREIGN_DEED, text) {
        return !patterns::matches(&FOREIGN_DENIAL, first);
    }
    let tells = |word: String| is_deed(&word) || is_own(&word, tool) || word.starts_with('✓') || word.starts_with('✅');
    words_of(text).any(tells) && !words_of(first).any(|word| is_negative(&word)) || text.starts_with(['✓', '✅', '✔'])
}

/// Whether an answer tells that the tool did what its name says, and denies nothing.
pub(super) fn reports_own_deed(text: &str, tool: Option<&str>) -> bool {
    words_of(text).any(|word| is_own(&word, tool)) && !words_of(text).any(|word| is_negative(&word) || word == "by")
}

/// Whether a word is the deed that the name of the tool says: `cancelled` of `cancel_order`.
fn is_own(word: &str, tool: Option<&str>) -> bool {
    let is_past = word.ends_with("ed") || word.ends_with("en") || IRREGULAR.has(word);
    is_past && tool.is_some_and(|tool| words(tool).iter().any(|own| shares_stem(own, word)))
}

/// Whether a field is named after the deed of a tool. Other flags are of the thing that was made: `pinned`, `read`.
pub(super) fn names_deed_of(field: &str, tool: &str) -> bool {
    let deed = words(field).pop().unwrap_or_default();
    let is_thing = |word: &str| ["tion", "ment"].iter().any(|end| word.ends_with(end)); // `send_activation` activates nothing
    deed.ends_with("ed") && words(tool).iter().any(|word| !is_thing(word) && shares_stem(word, &deed))
}

/// Whether a word of the name of a tool is that of a deed: `stop` of `stopped`, `deny` of `denied`, `deployment` of `deployed`.
pub(super) fn shares_stem(word: &str, deed: &str) -> bool {
    let shared = word.bytes().zip(deed.bytes()).take_while(|(one, other)| one == other).count();
    let rest = word.get(shared..).unwrap_or_default();
    (3..6).contains(&shared) && ["", "d", "e", "s", "y"].contains(&rest) && deed.len() <= shared + 3
        || shared > 5 && deed.len() <= shared + 3
}

/// Whether the name of a field tells of something done: `rowsAffected`, `processed_count`, `steps_completed`.
pub(super) fn is_of_a_deed(field: &str) -> bool {
    static NO_COUNTS: WordList = WordList::of("at left limit put remaining set");
    let words = words(field);
    let is_done = |word: &String| is_deed(word) || const { &WordList::of("progress success") }.has(word);
    words.iter().any(is_done) && !words.iter().any(|word| NO_DEEDS.has(word) || NO_COUNTS.has(word))
}

/// Whether a word, as the name of a field or the state of a thing, tells of a deed by itself.
pub(super) fn is_known_deed(word: &str) -> bool {
    DEEDS.has(word)
}

/// Words that tell that something was done.
pub(super) static DONE: LazyLock<Alternatives> = LazyLock::new(|| {
    of_deeds(&[
        (r"\b(was|were|been|already|successfully|and) (already )?({DEEDS})\b", "{DEEDS}"),
        (
            r"\bis (applied|booked|charged|completed|created|issued|made|paid|placed|posted|refunded|saved|sent|submitted)\b",
            "{DEEDS}",
        ),
        (r"\b[a-z]+[_-]\w*\d\w* ({DEEDS})\b", "{DEEDS}"),
        (r": ({DEEDS}|done)\b", "{DEEDS}|DONE"),
        (r"[(;,.] ?([a-z]+ ){0,3}({DEEDS})\b", "{DEEDS}"),
        (r"\b(after|during|while) [a-z ]{0,20}[a-z]+(ing|ed|out|ment|sion|tion|fer)\b", "AFTER|DURING|WHILE"),
        (r"\balready (been )?(in progress|running|started)\b", "ALREADY"),
        (r"\b({DEEDS}),? but\b", "{DEEDS}"),
        (r"\b[1-9]\d* ({DEEDS})\b", "{DEEDS}"),
        (r"\b({DEEDS}) \d+ ", "{DEEDS}"),
        (
            r"\b(line|row|item|task|step|record|chunk|part|batch|file|message)s? #?\d+ ?(-|–|/|to|of|through) ?\d+\b",
            "LINE|ROW|ITEM|TASK|STEP|RECORD|CHUNK|PART|BATCH|FILE|MESSAGE",
        ),
        (r"\b(after|until) ([a-z]+ )?#?[1-9]\d* (of|recipients|rows|items|messages|records|files)\b", "AFTER|UNTIL"),
        (r"\bdisk quota exceeded\b", "DISK QUOTA"),
        (
            r"\b(mid-?stream|midway|half-?way|part-?way|went through|reading back)\b",
            "STREAM|MIDWAY|HALF|PART|WENT|READING",
        ),
        (r"\bat \d{1,3} ?%", "AT "),
        (
            r"\b(charge|payment|refund|transfer|save|upload) (ok|complete|captured|made|succeeded)\b",
            "CHARGE|PAYMENT|REFUND|TRANSFER|SAVE|UPLOAD",
        ),
        (r"^(rollback|clean-?up|post-processing)\b", "ROLLBACK|CLEAN|POST-"),
        (r"\breturned 2\d\d\b", "RETURNED 2"),
        (r"\b(second|third|last) (of|call|request|step|write)\b", "SECOND|THIRD|LAST"),
        (r"\b(is|are) (now )?(live|running)\b", "LIVE|RUNNING"),
    ])
});

/// Whether a message tells that something was done: then no other word of it proves that nothing was.
pub fn tells_of_something_done(message: &str) -> bool {
    let message = cut(message, 960).to_lowercase();
    // `Nothing was sent except the first` tells of a deed; a conflict says that the key was already processed (ADR 0037).
    let has_rest = [" except", " but ", " besides", " other than", " apart from", " until "];
    let denied: &[&str] = match has_rest.iter().any(|word| message.contains(word)) {
        true => &["requests have been", "requests were", "already processed", "already been processed"],
        false => &[
            "requests have been",
            "requests were",
            "already processed",
            "already been processed",
            "nothing has been",
            "nothing was",
            "no payment was",
            "no charge was",
        ],
    };
    let message = denied.iter().fold(message, |message, words| message.replace(words, ""));
    DONE.is_match(&message) || counts_a_part(&message)
}

/// Words that mention a deed or a later step.
pub(super) static DEED: LazyLock<Alternatives> = LazyLock::new(|| {
    of_deeds(&[
        (
            r"(^|[^\w/.'-])({DEEDS}|merged|paying|started|synced|opened|saved)\b",
            "{DEEDS}|MERGED|PAYING|STARTED|SYNCED|OPENED|SAVED",
        ),
        (r"\b(when|while|during) [a-z]+ing\b", "WHEN|WHILE|DURING"),
        (r"\bget (https?://|/)", "GET HTTP|GET /"),
        (r"\bon [a-z ]{0,20}(upload|write|step|call|check)\b", "UPLOAD|WRITE|STEP|CALL|CHECK"),
        (r"\bexists?$", "EXIST"),
    ])
});

/// Deeds that their words deny or demand.
pub(super) static DENIED: LazyLock<Alternatives> = LazyLock::new(|| {
    of_deeds(&[(
        r"\b(not|be|never|no|nothing|cannot|to|already) (been |be |was |were )?({DEEDS})\b|\b(sent|made) too many requests|requests (were |have been )?(made|sent)|\bno [a-z]+ (was|were) ({DEEDS})\b",
        "{DEEDS}|REQUESTS",
    )])
});

/// Whether a message mentions a deed that nothing denies, or a later step. Stricter than [`tells_of_something_done`]: it takes
/// back what other words of the message prove.
pub(super) fn mentions_a_deed(message: &str) -> bool {
    let lower = cut(message, 960).to_lowercase();
    tells_of_something_done(message) || DEED.is_match(&DENIED.without(lower))
}

/// Whether a message counts a part of a whole, as `quota exceeded at 12 of 40 messages` does. A used limit is none.
fn counts_a_part(message: &str) -> bool {
    static PART: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"\b(\d{1,9}) (?:of|out of) (\d{1,9})\b( (?:requests|calls|tokens|credits|seats|attempts|retries)\b)?",
        )
    });
    message.contains(" of ")
        && PART.find_all(message).any(|found| {
            let number = |group| found.get(group)?.parse::<u64>().ok();
            found.get(3).is_none() && number(1).zip(number(2)).is_some_and(|(part, whole)| 0 < part && part < whole)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_is_reported_by_a_participle_that_nothing_denies() {
        for (tool, text) in [
            ("add_user", "User ada added"),
            ("cancel_order", "Order 771 cancelled. Refund of 20 EUR issued."),
            ("block_card", "Card blocked"),
            ("close_gate", "Gate closed; it cannot be opened at night"),
            ("load_shelf", "货架已更新"),
            ("do_it", "Saved!"),
        ] {
            assert!(reports_a_deed(text, Some(tool)), "{tool}: {text}");
        }
        for (tool, text) in [
            ("pay", "Card blocked"),
            ("add_user", "User ada was not added"),
            ("assign_crew", "Crew member already assigned"),
            ("cancel_order", "Order cannot be cancelled"),
            ("load_shelf", "货架未更新"),
            ("load_shelf", "Lift 3 is busy"),
        ] {
            assert!(!reports_a_deed(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn words_of_a_part_tell_of_something_done() {
        for text in [
            "2 copied, 1 lost",
            "Nothing was copied except the first row",
            "403 Forbidden (payment py_1 captured)",
            "token expired during confirmation",
            "quota exceeded at 12 of 40 messages",
        ] {
            assert!(tells_of_something_done(text), "{text}");
        }
        for text in [
            "Nothing was copied",
            "You have used 100 of 100 requests",
            "409: idempotency key k was already processed",
            "Try again after 5 seconds",
            "Missing required field: order, created_at",
        ] {
            assert!(!tells_of_something_done(text), "{text}");
        }
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
