//! Pages of HTML and reports of XML that servers answer with in place of what was asked for: whether a text is one, and what
//! it says.

use std::sync::LazyLock;

use super::details::Details;
use super::patterns::{self, LazyPattern};
use super::tool_name::{has_word, is_writer};
use super::word_list::WordList;

/// Bytes of a page in which its title is looked for.
const EXAMINED: usize = 4_096;

/// What the title of a page of an error is, as a whole: the status, the reason phrase, the page of a guard. More words stand
/// only behind a status and its usual phrase: films, books and guides are named after errors.
const TITLE: &str = r"(?ix)^(?:
      (?:http\ )?(?:(?:status\ code|error|status)[\ :–—-]*)?(?:code[\ :]+)?[45]\d\d(?:[\ :|.,–—-]*(?:\(?error\)?|client\ error|server\ error))?
    | (?:(?:http\ )?(?:error|status)?[\ :]*[45]\d\d)?[\ :|.,!–—-]*(?:error[\ :|–—-]+)?
      (?:bad\ request|unauthori[sz]ed|authorization\ required|payment\ required|forbidden|access\ (?:is\ )?(?:denied|forbidden)
        | (?:the\ )?(?:page|file|resource|site|url|doi|document)?\ ?(?:was\ |could\ )?not\ (?:be\ )?found|method\ not\ allowed|not\ acceptable
        | request\ time-?out|(?:request\ entity|payload|content)\ too\ large|(?:request-)?ur[il]\ too\ (?:long|large)|too\ many\ requests
        | (?:internal\ )?server\ error|not\ implemented|bad\ gateway|service\ (?:temporarily\ )?unavailable|gateway\ time-?out
        | web\ server\ is\ (?:down|returning\ an\ unknown\ error)|origin\ is\ unreachable|connection\ timed\ out|a\ timeout\ occurred|application\ error)[!.]?
    | (?:(?:http\ )?(?:error|status)[\ :]*)?
      (?:400\W{1,3}bad\ request|401\W{1,3}unauthori[sz]ed|402\W{1,3}payment\ required|403\W{1,3}forbidden|404\W{1,3}(?:page\ )?not\ found
        | 405\W{1,3}method\ not\ allowed|429\W{1,3}too\ many\ requests|500\W{1,3}internal\ server\ error|502\W{1,3}bad\ gateway
        | 503\W{1,3}service\ (?:temporarily\ )?unavailable|504\W{1,3}gateway\ time-?out)
      (?:\ *[|–—:-]\ [^<]{1,80}|\ \([^<)]{1,30}\))
    | (?:apache\ tomcat|glassfish|jboss|payara)[\w./\ -]{0,40}\ [|–—-]\ error\ report
    | attention\ required!?\ \|\ cloudflare|just\ a\ moment\.{3}|access\ to\ this\ page\ has\ been\ denied\.?|sorry,\ you\ have\ been\ blocked
    | robot\ check|are\ you\ a\ (?:human|robot)\??
    )$";

static TITLE_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(TITLE));

/// What a page says that a server gives in place of the one that was asked for: its title, or its first heading. None: the
/// text is no such page.
pub(super) fn error_page(text: &str) -> Option<&str> {
    if !text.starts_with('<') {
        return None;
    }
    let start = super::excerpt::cut(text, EXAMINED);
    let head = start.get(..start.len().min(400)).unwrap_or(start).to_ascii_lowercase();
    if !(head.starts_with("<!doctype html") || head.contains("<html") || head.starts_with("<head")) {
        return None;
    }
    // The title of a picture is none of the page.
    let lower = start.to_ascii_lowercase();
    let end = ["<body", "<svg"].iter().filter_map(|mark| lower.find(mark)).min();
    let has_title = element(start, "title").is_some_and(|title| !title.is_empty());
    let said = match has_title {
        true => element(start.get(..end.unwrap_or(start.len()))?, "title")?,
        false => element(start, "h1")?,
    };
    patterns::matches(&TITLE_PATTERN, said).then_some(said)
}

/// Whether a page comes from a server that a tool asked, and not from the hand of the tool or from a file: by its name.
pub(super) fn is_served(tool: Option<&str>) -> bool {
    static OWN: WordList = WordList::of(
        "artifact build cat compile convert doc docs document documents draft email export file files format \
        generate grep note page preview read render template write",
    );
    static ASKS: WordList = WordList::of(
        "api browse browser call crawl curl download fetch goto http navigate open request scrape url web",
    );
    static PAGES: WordList = WordList::of("artifact code component content html landing site website");
    static NEVER: WordList = WordList::of("build file files read render template templates write");
    tool.is_none_or(|tool| {
        let is_own = has_word(tool, &OWN) || is_writer(tool) && has_word(tool, &PAGES);
        !has_word(tool, &NEVER) && (has_word(tool, &ASKS) || !is_own)
    })
}

/// Whether a text is the report of an error in XML: by its root, by the fault in an envelope, or by the result that it names.
pub(super) fn is_error_report(text: &str) -> bool {
    static ROOT: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?is)^(<\?xml[^>]*>\s*)?(<!--.{0,400}?-->\s*)?(<(\w+:)?(error|errors|errorresponse|errorlist|fault|serviceexception(report)?|exceptionreport)(\s[^>]{0,1000})?[^/>]?>\s*<|<(\w+:)?error\s[^>]{0,1000}(message|code)\s*=|<(\w+:)?envelope\b[^>]{0,1500}>\s*(<(\w+:)?header\s*/?>\s*(</(\w+:)?header>\s*)?)?<(\w+:)?body\b[^>]{0,400}>\s*<(\w+:)?fault\b)",
        )
    });
    static RESULT: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(<\?xml[^>]*>\s*)?<(\w+:)?(response|result|status)\b[^>]{0,1500}>(\s*<(\w+:)?operation>[^<]{0,100}</(\w+:)?operation>)?\s*<(\w+:)?((result|status|outcome)>\s*(error|fail|failed|failure)\s*<|responsecode>\s*([A-Z]+_)*(BUSY|CONFLICT|DENIED|DUPLICATE|ERROR|EXCEEDED|FAILED|FORBIDDEN|INCOMPATIBLE\w*|INELIGIBLE|INVALID\w*|LOCKED|NOT_\w+|UNAUTHORIZED|UNAVAILABLE)(_[A-Z]+)*\s*<)",
        )
    });
    text.starts_with('<') && {
        let start = super::excerpt::cut(text, EXAMINED);
        let words = ["code", "message", "msg", "descri", "detail", "fault", "reason", "title"];
        let lower = start.to_ascii_lowercase();
        let has_words = words.iter().any(|word| lower.contains(word));
        has_words && patterns::matches(&ROOT, start) || patterns::matches(&RESULT, start)
    }
}

/// The code and the message in a report of XML, such as the stores of Amazon and Google give it; the fault of SOAP.
pub(super) fn error_report(text: &str) -> Option<Details> {
    if !text.starts_with('<') {
        return None;
    }
    let start = super::excerpt::cut(text, EXAMINED);
    let code = ["Code", "code", "faultcode"].iter().find_map(|name| element(start, name)).filter(|code| is_word(code));
    let message =
        ["Message", "message", "faultstring"].iter().find_map(|name| element(start, name)).unwrap_or_default();
    if code.is_none() && message.is_empty() {
        return None;
    }
    let details = Details::of_text(if message.is_empty() { text } else { message });
    Some(match code {
        Some(code) => details.named(code.rsplit(':').next().unwrap_or(code)),
        None => details,
    })
}

fn is_word(code: &str) -> bool {
    (1..=60).contains(&code.len()) && code.chars().all(|c| c.is_ascii_alphanumeric() || "._:-".contains(c))
}

/// The words of the first element of a name that holds nothing but words. Names of HTML are in any case.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('<') {
        rest = behind;
        let Some(inner) = rest.get(..name.len()).filter(|own| own.eq_ignore_ascii_case(name)) else { continue };
        let attributes = rest.get(inner.len()..).filter(|rest| rest.starts_with(['>', ' ', '\n']));
        let Some((_, words)) = attributes.and_then(|rest| rest.split_once('>')) else { continue };
        let (words, end) = words.split_once('<')?;
        return end.starts_with('/').then_some(words.trim());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_an_error_is_known_by_its_title() {
        for (page, said) in [
            ("<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>x</body></html>", "502 Bad Gateway"),
            (
                "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"a\"><title>403 Forbidden</title>",
                "403 Forbidden",
            ),
            ("<!doctype html>\n<html>\n <head>\n <title>Too Many Requests</title>", "Too Many Requests"),
            ("<html><title>Error: DOI Not Found</title>", "Error: DOI Not Found"),
            ("<html><head><title>404 Page not found | Acme</title>", "404 Page not found | Acme"),
            ("<html><head><title>Error 503</title>", "Error 503"),
            ("<html><body><h1>404 Not Found</h1></body></html>", "404 Not Found"),
            ("<html><head><title>Just a moment...</title>", "Just a moment..."),
            ("<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD>", "Access Denied"),
            (
                "<html>\n<head>\n<title>Apache Tomcat/6.0.35 - Error report</title>",
                "Apache Tomcat/6.0.35 - Error report",
            ),
        ] {
            assert_eq!(error_page(page), Some(said), "{page}");
        }
        for page in [
            "<html><head><title>502 ways to cook</title></head><body>x</body></html>",
            "<html><head><title>Error handling in Rust</title></head>",
            "<html><head><title>Forbidden City - a guide</title></head>",
            "<html><head><title>404 Bakery</title></head>",
            "<html><head><title>Error - the free encyclopedia</title></head>",
            "<html><head><title>Access Denied (album)</title>",
            "<html><head><title>Unauthorized | a biography of Assange</title>",
            "<html><head><title>Forbidden - Netflix series</title>",
            "<html><head><title>Bad Request | My blog</title>",
            "<html><head><title>Error</title></head><body>A film of 2003</body>",
            "<html><head><title>Runtime Error: what it is and how to fix</title>",
            "<html><head><title>Runtime Error</title>",
            "<html><head><title>503 - MDN reference</title>",
            "<html><head><title>404 - a film by X</title>",
            "<html><head><title>My film - error report</title>",
            "<html><svg><title>Error</title></svg><title>A shop</title>",
            "<html><svg><title>404 Not Found</title></svg><title>A shop</title><h1>404 Not Found</h1>",
            "<html><head><title>A shop</title></head><body><h1>404 Not Found</h1>",
            "<config><title>404 Not Found</title></config>",
            "the page <title>404 Not Found</title>",
        ] {
            assert_eq!(error_page(page), None, "{page}");
        }
    }

    #[test]
    fn a_page_is_served_to_tools_that_ask_for_it() {
        for tool in [None, Some("fetch"), Some("http_request"), Some("fetch_page"), Some("call_api"), Some("shop")] {
            assert!(is_served(tool), "{tool:?}");
        }
        for tool in ["read_file", "write_page", "render_template", "write_file", "build_site", "create_page"] {
            assert!(!is_served(Some(tool)), "{tool}");
            for title in ["404 Not Found", "Payment required", "Forbidden"] {
                let page = format!("<html><head><title>{title}</title></head><body>x</body></html>");
                assert_eq!(
                    super::super::body::inspect(&page, super::super::words::Teller { tool: Some(tool), words: None }),
                    None,
                    "{tool}: {title}"
                );
            }
        }
    }

    #[test]
    fn a_report_of_xml_is_known_by_its_root_or_its_result() {
        for text in [
            "<?xml version=\"1.0\"?>\n<ErrorResponse xmlns=\"https://a.b/c/\">\n  <Error>\n    <Code>NoSuchZone</Code>",
            "<ns0:Error majorErrorCode=\"403\"\n  message=\"No access\" xmlns=\"a/b\"/>",
            "<s:Envelope xmlns:s=\"http://a.b/c/\"><s:Body><s:Fault><faultcode>1</faultcode>",
            "<?xml version=\"1.0\"?>\n<ns0:Status xmlns:ns0=\"http://a/b\">\n <ns0:operation>Add</ns0:operation>\n <ns0:result>ERROR</ns0:result>",
            "<response xmlns=\"urn:a\">\n<operation>X</operation>\n<responseCode>RESOURCE_BUSY</responseCode>",
        ] {
            assert!(is_error_report(text), "{text}");
        }
        for text in [
            "<response xmlns=\"urn:a\"><operation>X</operation><responseCode>OK</responseCode>",
            "<config><error>1</error></config>",
            "<error/>",
            "<s:Envelope><s:Body><s:FaultList/></s:Body>",
            "<status><result>SUCCESS</result></status>",
        ] {
            assert!(!is_error_report(text), "{text}");
        }
    }

    #[test]
    fn a_report_of_xml_has_a_code_and_a_message() {
        for (report, code, message) in [
            (
                "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>",
                Some("AccessDenied"),
                "Access Denied",
            ),
            (
                "<soap:Fault><faultcode>soap:Client</faultcode><faultstring>No id</faultstring></soap:Fault>",
                Some("Client"),
                "No id",
            ),
            ("<error><message>Gone</message></error>", None, "Gone"),
        ] {
            let details = error_report(report).unwrap();
            assert_eq!((details.names.first().map(String::as_str), &*details.message), (code, message), "{report}");
        }
        for text in ["<error>Gone</error>", "Code: AccessDenied", "<Error><Code>not a code</Code></Error>"] {
            assert_eq!(error_report(text), None, "{text}");
        }
    }
}
