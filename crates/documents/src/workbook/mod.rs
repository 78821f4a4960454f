//! The cells of a sheet of a workbook. What is in the parts of its archive is read here, without a table of all cells.

mod archive;
mod cells;
mod ods;
mod value;
mod xlsx;

use crate::document::{Wanted, Workbook};
use crate::error::Refusal;
use crate::format::Format;

/// Reads the wanted rows of a sheet.
///
/// # Errors
/// Why nothing of it can be read.
pub(crate) fn read(bytes: &[u8], format: Format, wanted: &Wanted) -> Result<Workbook, Refusal> {
    match format {
        Format::Xlsx => xlsx::read(bytes, wanted),
        Format::Ods => ods::read(bytes, wanted),
        Format::Binary => Err(Refusal::Binary),
        Format::Encrypted => Err(Refusal::Encrypted),
        Format::Pdf => Err(Refusal::Unknown),
    }
}
