//! Reads the text of PDF files and workbooks.
//!
//! The crates that understand these formats may panic, loop or use up memory on a file that somebody prepared. So they run
//! in a process of their own ([`serve`]): the same executable, started again with the open file as its standard input. Before
//! it reads the first byte, it limits its memory and time, and on Linux gives up every system call but those of a program
//! that only computes. It sees no other file, no network and no key, and its environment is one setting of the allocator.
//! [`read`] starts it, and turns whatever becomes of it into a [`Document`] or a [`DocumentError`].
//!
//! Nothing here executes what a file contains: no macro, no script, no formula.

mod child;
mod document;
mod error;
mod form;
mod format;
mod pdf;
mod reader;
mod workbook;

pub use child::serve;
pub use document::{
    CELL_CHARS_MAX, Document, FIELD_CHARS_MAX, FIELDS_MAX, Field, PAGES_MAX, Page, PageState, Pdf, ROWS_MAX,
    Row, SHEETS_MAX, TEXT_CHARS_MAX, Wanted, Workbook,
};
pub use error::{DocumentError, Refusal};
pub use reader::{FILE_BYTES_MAX, Limits, read};
