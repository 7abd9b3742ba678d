//! Reads a page strictly: every element is known, closed in order, and has known attributes. What is left is its text.

/// Elements that a page may have.
const ELEMENTS: [&str; 40] = [
    "a", "article", "body", "code", "dd", "details", "div", "dl", "dt", "footer", "h1", "h2", "h3", "head", "header",
    "html", "li", "main", "mark", "meta", "nav", "p", "pre", "rect", "section", "span", "style", "summary", "svg",
    "table", "tbody", "td", "th", "thead", "title", "tr", "ul", "wbr", "br", "ol",
];

/// Those without an end.
const VOID: [&str; 3] = ["meta", "wbr", "br"];

/// Attributes that an element may have; none of them runs or loads anything.
const ATTRIBUTES: [&str; 17] = [
    "aria-hidden",
    "aria-label",
    "charset",
    "class",
    "colspan",
    "content",
    "height",
    "href",
    "http-equiv",
    "id",
    "lang",
    "name",
    "open",
    "preserveAspectRatio",
    "viewBox",
    "width",
    "style-is-none",
];

/// The text of a page, element by element, without its style sheet.
pub fn texts(page: &str) -> Vec<String> {
    let page = page.strip_prefix("<!doctype html>\n<!-- playproof page -->\n").expect("the beginning of a page");
    let (mut texts, mut open, mut rest) = (Vec::new(), Vec::new(), page);
    while let Some(at) = rest.find('<') {
        push_text(&mut texts, &rest[..at]);
        let end = rest.find('>').expect("the end of a tag");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in order");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(ELEMENTS.contains(&name), "the element <{tag}>");
        read_attributes(name, attributes);
        if name == "style" {
            rest = rest.split_once("</style>").expect("the end of the style sheet").1;
        } else if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?}");
    texts
}

fn push_text(texts: &mut Vec<String>, text: &str) {
    assert!(!text.contains(['>', '"', '\'']), "unescaped: {text}");
    for entity in text.split('&').skip(1) {
        assert!(["lt;", "gt;", "amp;", "quot;", "#39;"].iter().any(|known| entity.starts_with(known)), "&{entity}");
    }
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let text = pairs.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character));
    if !text.trim().is_empty() {
        texts.push(text);
    }
}

fn read_attributes(element: &str, attributes: &str) {
    let mut rest = attributes;
    while !rest.is_empty() {
        let (key, value) = rest.split_once("=\"").expect("an attribute with a value");
        let (value, after) = value.split_once('"').expect("the end of a value");
        rest = after.trim_start();
        assert!(ATTRIBUTES.contains(&key), "{element} {key}");
        assert!(key != "href" || value.starts_with('#'), "a link that leaves the page: {value}");
    }
}
