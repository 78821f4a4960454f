//! Shapes of the page's pictures. Coordinates are pixels from the top left.

use super::markup::Html;

/// A coordinate as it is written. What is no number stands at the edge.
pub(super) fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.1}") } else { "0".to_owned() }
}

/// A picture with a name and a description for whoever cannot see it.
pub(super) fn picture(
    html: &mut Html,
    (id, name, description): (&str, &str, &str),
    (width, height): (f64, f64),
    inner: impl FnOnce(&mut Html),
) {
    let (width, height) = (number(width), number(height));
    let attributes = [
        ("id", id),
        ("role", "img"),
        ("aria-label", name),
        ("width", &width),
        ("height", &height),
        ("viewBox", &format!("0 0 {width} {height}")),
    ];
    html.tag("svg", &attributes, |html| {
        html.leaf("title", &[], name);
        html.leaf("desc", &[], description);
        inner(html);
    });
}

/// A rectangle; `tip` is what a pointer over it is told.
pub(super) fn rectangle(
    html: &mut Html,
    class: &str,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    tip: Option<&str>,
) {
    let (x, y) = (number(x), number(y));
    let (width, height) = (number(width.max(0.0)), number(height.max(0.0)));
    let attributes = [("class", class), ("x", &*x), ("y", &*y), ("width", &*width), ("height", &*height)];
    html.tag("rect", &attributes, |html| tooltip(html, tip));
}

/// A straight line.
pub(super) fn line(html: &mut Html, class: &str, from: (f64, f64), to: (f64, f64)) {
    let (x1, y1, x2, y2) = (number(from.0), number(from.1), number(to.0), number(to.1));
    let attributes = [("class", class), ("x1", &*x1), ("y1", &*y1), ("x2", &*x2), ("y2", &*y2)];
    html.tag("line", &attributes, |_| {});
}

/// A circle.
pub(super) fn circle(html: &mut Html, class: &str, at: (f64, f64), radius: f64, tip: Option<&str>) {
    let (x, y, radius) = (number(at.0), number(at.1), number(radius));
    let attributes = [("class", class), ("cx", &*x), ("cy", &*y), ("r", &*radius)];
    html.tag("circle", &attributes, |html| tooltip(html, tip));
}

/// A line through several points.
pub(super) fn path(html: &mut Html, class: &str, points: &[(f64, f64)]) {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    html.tag("polyline", &[("class", class), ("points", &points.join(" "))], |_| {});
}

/// Text whose baseline is at `y`; the class says on which side of `x` it stands.
pub(super) fn label(html: &mut Html, class: &str, (x, y): (f64, f64), text: &str) {
    let (x, y) = (number(x), number(y));
    html.leaf("text", &[("class", class), ("x", &x), ("y", &y)], text);
}

fn tooltip(html: &mut Html, tip: Option<&str>) {
    if let Some(tip) = tip {
        html.leaf("title", &[], tip);
    }
}
