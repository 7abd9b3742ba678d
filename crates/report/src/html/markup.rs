//! HTML in the making: text is always escaped, elements are always closed. Knows no pages.

use crate::text;

/// A piece of a page. Only this file writes markup, so no text can be any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

/// Elements without contents and end.
const VOID: [&str; 3] = ["meta", "br", "wbr"];

/// Characters behind which a name may be broken.
const JOINTS: [char; 4] = ['/', '_', '.', '-'];

impl Html {
    /// What `inside` writes.
    pub fn of(inside: impl FnOnce(&mut Html)) -> Html {
        let mut html = Html::default();
        inside(&mut html);
        html
    }

    /// Text; nothing in it is markup, and no character of it is unsafe to print.
    pub fn text(&mut self, said: &str) {
        self.0.push_str(&text::html(said));
    }

    /// An element with attributes and contents.
    pub fn tag(&mut self, name: &'static str, attributes: &[(&'static str, &str)], inside: impl FnOnce(&mut Html)) {
        self.0.push('<');
        self.0.push_str(name);
        for (key, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            self.0.push_str(&format!(" {key}=\"{}\"", text::html(value)));
        }
        self.0.push('>');
        if VOID.contains(&name) {
            return;
        }
        inside(self);
        self.0.push_str(&format!("</{name}>"));
    }

    /// An element of a class; the class may be empty.
    pub fn element(&mut self, name: &'static str, class: &str, inside: impl FnOnce(&mut Html)) {
        self.tag(name, &[("class", class)], inside);
    }

    /// An element of a class that has only text.
    pub fn line(&mut self, name: &'static str, class: &str, said: &str) {
        self.element(name, class, |html| html.text(said));
    }

    /// Lines of plain text, set as they are.
    pub fn line_pre(&mut self, lines: &str) {
        self.element("pre", "", |html| {
            for line in lines.lines() {
                html.text(line);
                html.newline();
            }
        });
    }

    /// A name, which may be broken behind what joins its parts.
    pub fn name(&mut self, said: &str) {
        for (n, part) in said.split_inclusive(JOINTS).enumerate() {
            if n > 0 {
                self.tag("wbr", &[], |_| {});
            }
            self.text(part);
        }
    }

    /// Code, names and values, which may be broken as names.
    pub fn code(&mut self, said: &str) {
        self.element("code", "", |html| html.name(said));
    }

    /// A link to an element of the same page.
    pub fn link(&mut self, id: &str, said: &str) {
        self.tag("a", &[("href", &format!("#{id}"))], |html| html.text(said));
    }

    /// A piece that is finished.
    pub fn add(&mut self, piece: &Html) {
        self.0.push_str(&piece.0);
    }

    /// Begins a new line of the file, which no reader of the page sees.
    pub fn newline(&mut self) {
        self.0.push('\n');
    }

    /// A style sheet of our own, as it is.
    pub(super) fn style(&mut self, sheet: &'static str) {
        self.0.push_str("<style>");
        self.0.push_str(sheet);
        self.0.push_str("</style>");
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The file that begins with `beginning`.
    pub(super) fn into_file(self, beginning: &'static str) -> String {
        format!("{beginning}{}\n", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_cannot_be_left() {
        let odd = "<script>\"'&\u{202e}\n";
        let mut html = Html::of(|html| html.line("p", odd, odd));
        html.link("x\"y", "there");
        let escaped = "&lt;script&gt;&quot;&#39;&amp;\\u{202e}\\n";
        let wanted = format!("<p class=\"{escaped}\">{escaped}</p><a href=\"#x&quot;y\">there</a>");
        assert_eq!(html, Html(wanted));
    }

    #[test]
    fn an_attribute_without_a_value_is_left_out() {
        assert_eq!(Html::of(|html| html.line("b", "", "x")), Html("<b>x</b>".into()));
        assert_eq!(Html::of(|html| html.tag("br", &[], |_| {})), Html("<br>".into()));
    }
}
