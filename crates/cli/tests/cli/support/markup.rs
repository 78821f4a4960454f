//! A strict parser for pages: every element is closed, every attribute is known, and nothing loads or runs.

/// A parsed page.
#[derive(Debug, Default)]
pub(crate) struct Markup {
    /// Each opening element with its attributes, in order.
    pub(crate) elements: Vec<Element>,
    /// All text outside the style, with one space between words.
    pub(crate) text: String,
}

/// One element.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// Its text, without tags.
    pub(crate) text: String,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// Elements without content and end tag.
const VOID: [&str; 1] = ["meta"];
/// The elements that a page may have.
const ELEMENTS: [&str; 49] = [
    "html", "head", "meta", "title", "style", "body", "header", "nav", "main", "footer", "section", "h1",
    "h2", "h3", "p", "ul", "ol", "li", "dl", "dt", "dd", "div", "span", "strong", "bdi", "a", "code", "pre",
    "details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "desc", "g", "rect",
    "line", "circle", "polyline", "text", "use", "path", "tfoot", "abbr",
];
const ATTRIBUTES: [&str; 31] = [
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "id",
    "class",
    "dir",
    "href",
    "title",
    "scope",
    "role",
    "aria-label",
    "aria-labelledby",
    "aria-hidden",
    "width",
    "height",
    "viewBox",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "points",
    "data-column",
    "data-round",
    "data-step",
];

impl Markup {
    /// Parses a page.
    ///
    /// # Panics If it breaks a rule for pages.
    #[track_caller]
    pub(crate) fn of(page: &str) -> Self {
        let mut markup = Markup::default();
        let mut open: Vec<usize> = vec![];
        let mut rest = page.strip_prefix("<!DOCTYPE html>\n").expect("no doctype");
        while let Some((text, after)) = rest.split_once('<') {
            markup.take_text(&open, text);
            let (tag, after) = after.split_once('>').expect("a tag without an end");
            if let Some(name) = tag.strip_prefix('/') {
                let at = open.pop().expect("an end without a beginning");
                assert_eq!(markup.elements[at].name, name);
                rest = after;
                continue;
            }
            let element = Element::of(tag);
            let name = element.name.clone();
            markup.elements.push(element);
            if !VOID.contains(&name.as_str()) {
                open.push(markup.elements.len() - 1);
            }
            rest = after;
            if name == "style" {
                // The content of a style is not markup.
                let end = after.find("</style>").expect("an endless style");
                rest = after.split_at(end).1;
            }
        }
        assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest:?}");
        markup.check_links();
        markup.text = markup.text.split_whitespace().collect::<Vec<_>>().join(" ");
        markup
    }

    pub(crate) fn all<'m>(&'m self, name: &'m str) -> impl Iterator<Item = &'m Element> {
        self.elements.iter().filter(move |element| element.name == name)
    }

    #[track_caller]
    pub(crate) fn by_id(&self, id: &str) -> &Element {
        let found = self.elements.iter().find(|element| element.attribute("id") == Some(id));
        found.unwrap_or_else(|| panic!("nothing has the id {id}"))
    }

    #[track_caller]
    fn take_text(&mut self, open: &[usize], text: &str) {
        let mut said = text.to_owned();
        // Attributes are in double quotes, so a single quote in a text ends nothing.
        assert!(!text.contains(['>', '"']), "{text:?}");
        for (entity, c) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")] {
            said = said.replace(entity, c);
        }
        for at in open {
            self.elements[*at].text.push_str(&said);
        }
        self.text.push_str(&said);
        self.text.push(' ');
    }

    /// Checks that every link leads to a place of the page itself, and that no id occurs twice.
    #[track_caller]
    fn check_links(&self) {
        let mut ids: Vec<&str> = self.elements.iter().filter_map(|element| element.attribute("id")).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "an id is there twice");
        for element in &self.elements {
            if let Some(to) = element.attribute("href") {
                let id = to.strip_prefix('#').unwrap_or_else(|| panic!("a way out of the page: {to}"));
                assert!(ids.binary_search(&id).is_ok(), "no place for {to}");
            }
        }
    }
}

impl Element {
    #[track_caller]
    fn of(tag: &str) -> Self {
        let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(ELEMENTS.contains(&name), "<{tag}>");
        let mut attributes = vec![];
        while !rest.is_empty() {
            let (name, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("<{tag}>"));
            assert!(ATTRIBUTES.contains(&name), "{name} in <{tag}>");
            let (value, after) = after.split_once('"').unwrap_or_else(|| panic!("<{tag}>"));
            attributes.push((name.to_owned(), value.to_owned()));
            rest = after.strip_prefix(' ').unwrap_or(after);
        }
        Element { name: name.to_owned(), attributes, text: String::new() }
    }
}
