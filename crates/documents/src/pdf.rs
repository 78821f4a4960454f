//! The text of a PDF file, page by page.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use pdf_extract::{ConvertToFmt, Document as File, PlainTextOutput, output_doc_page};

use crate::document::{PAGES_MAX, Page, PageState, Pdf, TEXT_CHARS_MAX, Wanted};
use crate::error::Refusal;
use crate::form;

/// Reads the wanted pages.
///
/// # Errors
/// Why nothing of it can be read.
pub(crate) fn read(bytes: &[u8], wanted: &Wanted) -> Result<Pdf, Refusal> {
    let mut file = File::load_mem(bytes).map_err(Refusal::damaged)?;
    // Many files are encrypted with an empty password, which only asks programs not to copy.
    if file.is_encrypted() && file.decrypt("").is_err() {
        return Err(Refusal::Encrypted);
    }
    let count = u32::try_from(file.page_iter().count()).unwrap_or(u32::MAX);
    if count == 0 {
        return Err(Refusal::damaged("it has no pages"));
    }
    if wanted.from > count {
        return Err(Refusal::NoPage { has: count });
    }
    let last = wanted.to.min(count).min(wanted.from.saturating_add(PAGES_MAX - 1));
    // The form is not worth the pages.
    let form = catch_unwind(AssertUnwindSafe(|| form::read(&file)));
    let (fields, is_form_cut) = form.unwrap_or((Vec::new(), true));
    let mut pdf =
        Pdf { pages: count, fields, is_form_cut, given: Vec::new(), is_page_cut: false, next: None };
    let mut room = TEXT_CHARS_MAX;
    for number in wanted.from..=last {
        let (page, is_cut) = page(&file, number, room);
        if is_cut && !pdf.given.is_empty() {
            // The next call gives it whole.
            pdf.next = Some(number);
            return Ok(pdf);
        }
        room = room.saturating_sub(page.text.chars().count());
        pdf.given.push(page);
        if is_cut {
            pdf.is_page_cut = true;
            pdf.next = Some(number.saturating_add(1)).filter(|next| *next <= wanted.to.min(count));
            return Ok(pdf);
        }
    }
    pdf.next = Some(last.saturating_add(1)).filter(|next| *next <= wanted.to.min(count));
    Ok(pdf)
}

/// Reads a page, at most `room` characters of it. Returns whether it has more.
fn page(file: &File, number: u32, room: usize) -> (Page, bool) {
    let sink = Sink(Rc::new(RefCell::new(Text { text: String::new(), room, is_cut: false })));
    let mut output = PlainTextOutput::new(sink.clone());
    // The library panics on what it does not expect; the other pages can still be read.
    let result = catch_unwind(AssertUnwindSafe(|| output_doc_page(file, &mut output, number)));
    let written = sink.0.borrow();
    let text = tidy(&written.text);
    let state = match result {
        _ if written.is_cut => PageState::Read,
        Err(_) | Ok(Err(_)) => PageState::Unreadable,
        Ok(Ok(())) if text.is_empty() => PageState::WithoutText,
        Ok(Ok(())) => PageState::Read,
    };
    (Page { number, text, state }, written.is_cut)
}

/// Returns the text without blanks at the ends of lines and without more than one empty line in a row.
fn tidy(text: &str) -> String {
    let mut tidy = String::new();
    let mut empty = 0;
    for line in text.lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.trim_matches('\n').to_owned()
}

struct Text {
    text: String,
    /// Characters that may still be written.
    room: usize,
    is_cut: bool,
}

/// Takes a page's text up to a limit. A page can repeat a text far more often than it holds it.
#[derive(Clone)]
struct Sink(Rc<RefCell<Text>>);

impl fmt::Write for Sink {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let mut text = self.0.borrow_mut();
        for c in more.chars() {
            if text.room == 0 {
                text.is_cut = true;
                return Err(fmt::Error);
            }
            text.room -= 1;
            text.text.push(c);
        }
        Ok(())
    }
}

impl ConvertToFmt for Sink {
    type Writer = Sink;

    fn convert(self) -> Sink {
        self
    }
}
