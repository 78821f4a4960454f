//! Markup that is balanced and escaped by construction: text from outside gets in as text, or not at all.
//!
//! The names of elements and attributes are literals of this program. Everything else is escaped here, on its only way
//! in, after what a reader could not see or would be misled by was made visible.

use crate::text::sanitise;

/// Markup so far. Its elements are closed, and nothing in it is markup that this program did not write.
#[derive(Clone, Debug, Default)]
pub(super) struct Html(String);

/// The attributes of an element: names of this program, values from anywhere.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Text; its lines stay apart where the style keeps them.
    pub(super) fn text(&mut self, text: &str) {
        escape(&sanitise::marked(text), &mut self.0);
    }

    /// An element with what `inner` puts into it.
    pub(super) fn tag(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        inner: impl FnOnce(&mut Html),
    ) {
        self.open(name, attributes);
        inner(self);
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// An element with nothing but text in it.
    pub(super) fn leaf(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) {
        self.tag(name, attributes, |html| html.text(text));
    }

    /// An element that never has anything in it.
    pub(super) fn void(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.open(name, attributes);
    }

    /// A text of others within a line of ours: whichever way it is read, ours is not turned round by it.
    pub(super) fn said(&mut self, text: &str) {
        self.leaf("bdi", &[], text);
    }

    /// A whole page with this head and body, and the style that it has in it.
    pub(super) fn page(
        style: &'static str,
        head: impl FnOnce(&mut Html),
        body: impl FnOnce(&mut Html),
    ) -> String {
        let mut html = Html("<!DOCTYPE html>\n".to_owned());
        html.tag("html", &[("lang", "en")], |html| {
            html.tag("head", &[], |html| {
                head(html);
                // The only text that is not escaped: it is a file of this program.
                html.tag("style", &[], |html| html.0.push_str(style));
            });
            html.tag("body", &[], body);
        });
        html.0.push('\n');
        html.0
    }

    fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            escape(&sanitise::marked(value), &mut self.0);
            self.0.push('"');
        }
        self.0.push('>');
    }
}

/// Text without a character that markup has a meaning for, inside an element or between the quotes of an attribute.
fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            other => into.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leaf(text: &str) -> String {
        let mut html = Html::default();
        html.leaf("p", &[("title", text)], text);
        html.0
    }

    #[test]
    fn text_stays_text() {
        let cases = [
            ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
            ("</p><script>alert(1)</script>", "&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onload=\"x", "&quot; onload=&quot;x"),
            ("' onload='x", "&#39; onload=&#39;x"),
            ("&lt;", "&amp;lt;"),
            ("]]><!-- \u{0}", "]]&gt;&lt;!-- ␀"),
            ("ab\u{202e}cd", "ab⟨U+202E⟩cd"),
        ];
        for (text, shown) in cases {
            assert_eq!(leaf(text), format!("<p title=\"{shown}\">{shown}</p>"), "{text:?}");
        }
    }

    #[test]
    fn elements_are_closed_in_order() {
        let mut html = Html::default();
        html.tag("ul", &[("class", "x")], |html| {
            html.leaf("li", &[], "one");
            html.tag("li", &[], |html| {
                html.void("br", &[]);
                html.said("two");
            });
        });
        assert_eq!(html.0, "<ul class=\"x\"><li>one</li><li><br><bdi>two</bdi></li></ul>");
    }

    /// What a browser would take for markup, and what it might take for such.
    fn any_text() -> impl Strategy<Value = String> {
        let nasty = prop::sample::select(vec![
            "<",
            ">",
            "\"",
            "'",
            "&",
            "=",
            "/",
            "`",
            "<!--",
            "-->",
            "]]>",
            "<script>",
            "</style>",
            "&#x3c;",
            "\0",
            "\u{1b}",
            "\u{85}",
            "\u{202e}",
            "\u{2028}",
            "javascript:",
            "\n",
            "\t",
            "ﹼ",
            "＜",
        ]);
        prop::collection::vec(prop_oneof![nasty.prop_map(str::to_owned), ".{0,4}"], 0..24)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn no_text_makes_markup(text in any_text()) {
            let html = leaf(&text);
            let inner = html.strip_prefix("<p title=\"").and_then(|rest| rest.strip_suffix("</p>")).unwrap();
            let (value, content) = inner.split_once("\">").unwrap();
            for part in [value, content] {
                prop_assert!(!part.contains(['<', '>', '"', '\'']), "{part}");
                prop_assert!(part.chars().all(|c| matches!(c, '\n' | '\t') || !sanitise::is_unsafe(c)), "{part}");
                // Every ampersand begins one of the entities that are written here.
                let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
                prop_assert!(
                    part.match_indices('&').all(|(at, _)| entities.iter().any(|e| part.split_at(at).1.starts_with(e)))
                );
            }
        }
    }
}
