//! Which format a file has, by its content; its name is not asked.

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Pdf,
    Xlsx,
    Ods,
    /// A workbook whose cells are not XML (`xls`, `xlsb`). It is named, not read.
    Binary,
    /// A workbook in a container that is encrypted.
    Encrypted,
}

/// Bytes at the beginning in which a PDF file must say so, as its readers allow.
const PDF_BYTES_MAX: usize = 1_024;
const ZIP: &[u8] = b"PK\x03\x04";
const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Begins the list of an archive's contents, at its end.
const ZIP_END: &[u8] = b"PK\x05\x06";

/// Returns whether it is an archive without its end.
pub(crate) fn is_cut_off(bytes: &[u8]) -> bool {
    bytes.starts_with(ZIP) && !bytes.windows(ZIP_END.len()).any(|window| window == ZIP_END)
}

/// Returns the format, or `None` if it is none that can be read.
pub(crate) fn of(bytes: &[u8]) -> Option<Format> {
    let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    let beginning = bytes.get(..PDF_BYTES_MAX).unwrap_or(bytes);
    if beginning.windows(5).any(|window| window == b"%PDF-") {
        return Some(Format::Pdf);
    }
    // The workbook's part may have a number in its name. Names in a ZIP archive are not compressed.
    if bytes.starts_with(ZIP) {
        return if has(b"xl/workbook.bin") {
            Some(Format::Binary)
        } else if has(b"xl/workbook") {
            Some(Format::Xlsx)
        } else if has(b"application/vnd.oasis.opendocument.spreadsheet") {
            Some(Format::Ods)
        } else {
            None
        };
    }
    if bytes.starts_with(OLE) {
        let wide = |name: &str| name.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        return if has(&wide("EncryptedPackage")) {
            Some(Format::Encrypted)
        } else if has(&wide("Workbook")) || has(&wide("Book")) {
            Some(Format::Binary)
        } else {
            None
        };
    }
    None
}
