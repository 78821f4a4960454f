//! The parts of an archive, as XML that is read piece by piece.

use std::borrow::Cow;
use std::io::{BufReader, Cursor};

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::Refusal;

/// A workbook's archive.
pub(crate) struct Archive<'b>(ZipArchive<Cursor<&'b [u8]>>);

/// A piece of a part, in the order of the text.
pub(crate) enum Piece<'p> {
    /// An element begins. One without content begins and ends.
    Start(Tag<'p>),
    /// The element of this name ends.
    End(&'p str),
    /// Text with its references resolved; a text may come in several pieces.
    Text(&'p str),
}

/// The beginning of an element.
pub(crate) struct Tag<'p>(&'p BytesStart<'p>);

impl Tag<'_> {
    /// Returns the name without the prefix of its namespace: which prefix stands for which is up to the writer.
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// Returns the value of the attribute with this name, as a whole or without its prefix.
    ///
    /// # Errors
    /// If it is not well formed.
    pub(crate) fn get(&self, name: &str) -> Result<Option<String>, Refusal> {
        // Whether a name is there twice is not asked: that takes the square of their number.
        for attribute in self.0.attributes().with_checks(false) {
            let attribute = attribute.map_err(Refusal::damaged)?;
            if attribute.key.into_inner() == name || attribute.key.local_name().into_inner() == name {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(Refusal::damaged)?;
                return Ok(Some(value.into_owned()));
            }
        }
        Ok(None)
    }

    /// Returns the value of an attribute that is a number, if it is one.
    ///
    /// # Errors
    /// As for [`Tag::get`].
    pub(crate) fn number(&self, name: &str) -> Result<Option<u32>, Refusal> {
        Ok(self.get(name)?.and_then(|value| value.trim().parse().ok()))
    }
}

impl<'b> Archive<'b> {
    /// Opens an archive.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn open(bytes: &'b [u8]) -> Result<Self, Refusal> {
        ZipArchive::new(Cursor::new(bytes)).map(Archive).map_err(Refusal::damaged)
    }

    /// Returns whether there is a part of this name.
    pub(crate) fn has(&self, part: &str) -> bool {
        self.index(part).is_some()
    }

    /// Names of parts do not differ by case.
    fn index(&self, part: &str) -> Option<usize> {
        let same = |name: &[u8]| name.eq_ignore_ascii_case(part.as_bytes());
        self.0.index_for_name(part).or_else(|| self.0.file_names_raw().position(same))
    }

    /// Shows `visit` each piece of a part. Only the piece itself is in memory.
    ///
    /// # Errors
    /// If the part is missing or no XML, or what `visit` returns.
    pub(crate) fn walk(
        &mut self,
        part: &str,
        mut visit: impl FnMut(Piece<'_>) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let index = self.index(part).ok_or_else(|| Refusal::damaged(format!("it has no {part}")))?;
        let file = self.0.by_index(index).map_err(|error| match error {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => Refusal::Encrypted,
            other => Refusal::damaged(other),
        })?;
        let mut reader = Reader::from_reader(BufReader::new(file));
        reader.config_mut().expand_empty_elements = true;
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer).map_err(Refusal::damaged)? {
                Event::Start(tag) => visit(Piece::Start(Tag(&tag)))?,
                Event::End(tag) => visit(Piece::End(tag.local_name().into_inner()))?,
                Event::Text(text) => visit(Piece::Text(&text.xml10_content()))?,
                Event::CData(text) => visit(Piece::Text(&text.xml10_content()))?,
                Event::GeneralRef(reference) => {
                    let text: Cow<'_, str> = match reference.resolve_char_ref().map_err(Refusal::damaged)? {
                        Some(character) => character.to_string().into(),
                        // A name that only the part itself declares is not resolved: such names may grow without end.
                        None => resolve_xml_entity(&reference)
                            .ok_or_else(|| Refusal::damaged("it names an entity that is not one of XML"))?
                            .into(),
                    };
                    visit(Piece::Text(&text))?;
                }
                Event::Eof => return Ok(()),
                // Without `expand_empty_elements` only, or without meaning for the cells.
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }
}
