//! What `http_fetch` reads: URLs of a model, and pages of anyone.

use setpoint_fetch::markdown::{MARKDOWN_BYTES_MAX, TITLE_CHARS_MAX, from_html};
use setpoint_fetch::{Target, URL_BYTES_MAX, host_name};

/// A URL that is accepted is plain ASCII, names nothing but a host, and is accepted as the same again.
pub(crate) fn url(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let Ok(target) = Target::parse(&text) else { return };
    let form = target.as_str();
    assert!(form.is_ascii() && form.len() <= URL_BYTES_MAX, "{form}");
    assert_eq!(Target::parse(form).as_ref(), Ok(&target), "{form} reads differently");
    assert_eq!(host_name(target.host()).as_deref(), Some(target.host()));
    let scheme = if target.is_https() { "https://" } else { "http://" };
    let port = if target.is_https() { 443 } else { 80 };
    let port = if target.port() == port { String::new() } else { format!(":{}", target.port()) };
    let start = format!("{scheme}{}{port}/", target.host());
    assert!(form.starts_with(&start), "{form} does not begin with {start}");
    // Where a redirect leads is held to the same rules.
    if let Ok(joined) = target.joined(&text) {
        assert_eq!(Target::parse(joined.as_str()), Ok(joined));
    }
}

/// A page becomes bounded text; one without markup keeps its words.
pub(crate) fn page(input: &[u8]) {
    let html = String::from_utf8_lossy(input);
    let Ok(base) = Target::parse("https://example.org/a/b") else { return };
    let page = from_html(&html, &base);
    assert!(page.text.len() <= MARKDOWN_BYTES_MAX && page.title.chars().count() <= TITLE_CHARS_MAX);
    assert!(page.is_complete, "an input of the fuzzer is never too long");
    if !html.contains(['<', '&', '\0']) {
        assert!(page.text.split_whitespace().eq(html.split_whitespace()), "{html:?} became {:?}", page.text);
    }
}
