use expect_test::{Expect, expect};

use super::*;

fn convert(html: &str) -> Markdown {
    from_html(html, &Target::parse("https://example.org/docs/page").unwrap())
}

fn check(html: &str, expected: Expect) {
    expected.assert_eq(&convert(html).text);
}

#[test]
fn a_page_keeps_headings_links_and_lists() {
    let html = r#"<!doctype html><html><head><title> A
        page &amp; more </title><style>p { color: red }</style></head><body>
        <nav><a href="/">Home</a> <a href="other#part">Other</a></nav>
        <h1>Big <a href="//cdn.example/x">thing</a></h1>
        <p>First   line<br>second, with <b>bold</b> and <code>let x = 1;</code>.</p>
        <ul><li>one<li><p>two</p><ol start=3><li>deep</li><li>deeper</li></ol></li></ul>
        <blockquote><p>said</p><p>again</p></blockquote><p>after</p>
        <pre><code>
fn main() {

    run();
}
</code></pre>
        <p>end <img src="/a.png" alt="A cat"><a href="mailto:a@example.org">mail</a></p><hr><script>alert("no")</script>
        </body></html>"#;
    assert_eq!(convert(html).title, "A page & more");
    check(
        html,
        expect![[r#"
            [Home](https://example.org/) [Other](https://example.org/docs/other#part)

            # Big [thing](https://cdn.example/x)

            First line
            second, with bold and `let x = 1;`.

            - one
            - two

              3. deep
              4. deeper

            > said
            >
            > again

            after

            ```
            fn main() {

                run();
            }
            ```

            end ![A cat](https://example.org/a.png)mail

            ---"#]],
    );
}

#[test]
fn tables_have_rows_and_one_head() {
    check(
        "<p>before<table><caption>Sizes</caption><thead><tr><th>Name<th>Size</thead>
         <tr><td>a<td><p>1</p><p>2</p><tr><td><a href=/b>b</a><td></table>after
         <table><tr><td>x<table><tr><td>in<td>side</table></td><td>y</td></tr></table>",
        expect![[r#"
            before

            Sizes

            | Name | Size |
            | --- | --- |
            | a | 1 2 |
            | [b](https://example.org/b) | |

            after

            | x in side | y |
            | --- | --- |"#]],
    );
}

#[test]
fn what_a_page_hides_is_left_out() {
    check(
        "<p>seen<p hidden>one<p>seen too</p><div style='Display : None'>two<div>three</div></div>
         <span style=visibility:hidden>four</span><template>five</template><!-- six --><iframe>seven</iframe>
         <svg/>eight<svg><text>nine</text></svg><noscript>ten</noscript><input hidden>eleven",
        expect![[r#"
            seen

            seen too

            eightteneleven"#]],
    );
}

#[test]
fn broken_markup_keeps_its_text() {
    check(
        "</p></ul></td></code></a></pre></blockquote></table>a<li>b<td>c<a href=/x>d<a href=/y>e<h2>f<pre>g&lt;h",
        expect![[r#"
            a
            - b c[d](https://example.org/x)[e f g<h](https://example.org/y)"#]],
    );
    check("<a href=/x></a><h3></h3><ul><li></ul>x &nosuch; &#x41; \u{1f600}", expect!["x &nosuch; A 😀"]);
}

#[test]
fn only_links_to_pages_stay_links() {
    check(
        "<a href='javascript:alert(1)'>a</a> <a href='data:text/html,x'>b</a> <a href='#c'>c</a> <a>d</a> <a href='http://[x'>e</a> <a href=' ../up?q=1#z '>f</a>",
        expect!["a b c d e [f](https://example.org/up?q=1#z)"],
    );
}

/// Pages on which readers that build a tree recurse until the stack ends, or take time that grows with the square of the
/// page: here that would be minutes to hours each.
#[test]
fn hostile_pages_are_read_in_the_end() {
    let many = 50_000;
    let attributes: String = (0..many).map(|number| format!(" a{number}=1")).collect();
    for (name, html) in [
        ("deep blocks", "<div>".repeat(many)),
        ("deep formatting", "<b><a href=x>".repeat(many)),
        ("formatting across paragraphs", format!("{}{}", "<b><i><u>".repeat(300), "<p>x".repeat(many))),
        ("deep lists", "<ul><li>x".repeat(many)),
        ("deep quotes", "<blockquote>x<br>".repeat(many)),
        ("deep tables", "<table><tr><td>x".repeat(many)),
        ("foster parents", format!("<table>{}", "x<tr>".repeat(many))),
        ("a wide row", format!("<table><tr>{}", "<td>x".repeat(many))),
        (
            "a wide cell over many rows",
            format!("<table><tr><th>{}{}", "y".repeat(many), "<tr><td>a".repeat(many)),
        ),
        ("many attributes", format!("<p{attributes}>x")),
        ("a huge attribute", format!("<a href='{}'>x", "y".repeat(1_000_000))),
        ("a tag without end", format!("x<a href='{}", "y".repeat(1_000_000))),
        ("a comment without end", format!("x<!--{}", "-".repeat(1_000_000))),
        ("a script without end", format!("x<script>{}", "</scrip".repeat(many))),
        ("nothing but ampersands", "&".repeat(1_000_000)),
        ("hidden in hidden", format!("x{}", "<div hidden>".repeat(many))),
        ("ends without starts", format!("x{}", "</div></a></table>".repeat(many))),
        ("links without ends", "<a href=/x>y".repeat(many)),
    ] {
        let page = convert(&html);
        assert!(page.text.len() <= MARKDOWN_BYTES_MAX, "{name}");
        assert!(
            page.text.contains(['x', 'y', '&']) || name.starts_with("deep"),
            "{name}: {:?}",
            page.text.get(..80)
        );
    }
}

#[test]
fn a_page_that_is_too_long_is_cut_and_says_so() {
    let page = convert(&"<li>0123456789".repeat(MARKDOWN_BYTES_MAX / 12));
    assert!(!page.is_complete && page.text.len() <= MARKDOWN_BYTES_MAX);
    assert!(convert("<p>x").is_complete);
}
