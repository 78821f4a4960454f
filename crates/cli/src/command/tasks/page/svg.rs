//! Shapes of the page's pictures. Coordinates are pixels from the top left.

use maud::{Markup, html};

/// Formats a coordinate. A value that is not finite becomes 0.
fn px(value: f64) -> String {
    if value.is_finite() { format!("{value:.1}") } else { "0".to_owned() }
}

/// Returns a picture with a name and a description for screen readers.
pub(super) fn picture(
    (id, name, description): (&str, &str, &str),
    (width, height): (f64, f64),
    inner: &Markup,
) -> Markup {
    let (width, height) = (px(width), px(height));
    html! {
        svg id=(id) role="img" aria-label=(name) width=(width) height=(height)
            viewBox={ "0 0 " (width) " " (height) } {
            title { (name) }
            desc { (description) }
            (inner)
        }
    }
}

/// Returns a rectangle with an optional tooltip.
pub(super) fn rectangle(class: &str, (x, y): (f64, f64), size: (f64, f64), tip: Option<&str>) -> Markup {
    let (width, height) = (size.0.max(0.0), size.1.max(0.0));
    html! {
        rect class=(class) x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) { (tooltip(tip)) }
    }
}

pub(super) fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Markup {
    html! { line class=(class) x1=(px(x1)) y1=(px(y1)) x2=(px(x2)) y2=(px(y2)) {} }
}

pub(super) fn circle(class: &str, (x, y): (f64, f64), radius: f64, tip: Option<&str>) -> Markup {
    html! { circle class=(class) cx=(px(x)) cy=(px(y)) r=(px(radius)) { (tooltip(tip)) } }
}

pub(super) fn path(class: &str, points: &[(f64, f64)]) -> Markup {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
    html! { polyline class=(class) points=(points.join(" ")) {} }
}

/// Returns text whose baseline is at `y`; the class says on which side of `x` it is.
pub(super) fn label(class: &str, (x, y): (f64, f64), text: &str) -> Markup {
    html! { text class=(class) x=(px(x)) y=(px(y)) { (text) } }
}

fn tooltip(tip: Option<&str>) -> Markup {
    html! { @if let Some(tip) = tip { title { (tip) } } }
}
