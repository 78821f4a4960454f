//! Decodes JSON into the wanted type, forgiving what cannot change its meaning.
//!
//! What is forgiven: the spelling of a field's name; a number where a text is wanted; a text where a number, a list or
//! an object is wanted and the text contains one; one value where a list is wanted; null for an absent value; the form
//! of a word that means one of a few. A field given twice with the same value is given once. What is never done:
//! choosing between two values, leaving out an item, inventing a field. Values of no fixed shape stay exactly as they
//! are.
//!
//! An error names the place by our field names and says what is wanted there.

use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Number;

use super::error::{Step, written};
use super::node::{Node, same_name};
use super::read::nested;
use super::words;

/// Why a value does not fit, with the path to it from the inside out.
#[derive(Debug)]
pub(super) struct Misfit {
    why: MisfitReason,
    way: Vec<Way>,
}

#[derive(Debug)]
enum MisfitReason {
    Missing(&'static str),
    Wanted { wanted: String, found: &'static str },
    Word(&'static [&'static str]),
    Twice,
    Range,
    Unfit,
}

#[derive(Clone, Debug)]
enum Way {
    Field(&'static str),
    /// The name that the answer gives; shown only if it is one of ours.
    Written(String),
    Item(usize),
}

/// Decodes `node` into the wanted type.
pub(super) fn decode<T: DeserializeOwned>(node: &Node) -> Result<T, Misfit> {
    T::deserialize(NodeDecoder(node))
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.say(&[]))
    }
}

impl std::error::Error for Misfit {}

impl Misfit {
    /// Returns what is wrong and where, using only the names in `ours`.
    pub(super) fn say(&self, ours: &[&str]) -> String {
        let step = |way: &Way| match way {
            Way::Item(index) => Step::Item(*index),
            Way::Field(name) => Step::Field((*name).to_owned()),
            Way::Written(name) => {
                Step::Field(if ours.contains(&name.as_str()) { name } else { "…" }.to_owned())
            }
        };
        let mut path: Vec<Step> = self.way.iter().rev().map(step).collect();
        if let MisfitReason::Missing(name) = self.why {
            path.push(Step::Field(name.to_owned()));
        }
        let place = match written(&path) {
            place if place.is_empty() => "it".to_owned(),
            place => format!("`{place}`"),
        };
        match &self.why {
            MisfitReason::Missing(_) => format!("missing field {place}"),
            MisfitReason::Wanted { wanted, found } => format!("{place} must be {wanted}, not {found}"),
            MisfitReason::Word(words) => format!("{place} must be one of `{}`", words.join("`, `")),
            MisfitReason::Twice => format!("{place} is given twice with different values"),
            MisfitReason::Range => format!("{place} is too large or too small a number"),
            MisfitReason::Unfit => format!("{place} is not what is asked for"),
        }
    }

    fn new(why: MisfitReason) -> Self {
        Misfit { why, way: Vec::new() }
    }

    fn wanted(wanted: &str, found: &Node) -> Self {
        Misfit::new(MisfitReason::Wanted { wanted: wanted.to_owned(), found: found.kind() })
    }

    fn under(mut self, step: Way) -> Self {
        self.way.push(step);
        self
    }
}

/// A visitor's message quotes the value, so only the kinds of things are taken from it.
impl de::Error for Misfit {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Misfit::new(MisfitReason::Unfit)
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        let found = match found {
            Unexpected::Bool(_) => "true or false",
            Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
            Unexpected::Str(_) | Unexpected::Char(_) => "a text",
            Unexpected::Unit | Unexpected::Option => "null",
            Unexpected::Seq => "a list",
            Unexpected::Map => "an object",
            _ => "something else",
        };
        Misfit::new(MisfitReason::Wanted { wanted: wanted.to_string(), found })
    }

    fn invalid_value(_: Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Misfit::new(MisfitReason::Range)
    }

    fn invalid_length(_: usize, _: &dyn de::Expected) -> Self {
        Misfit::new(MisfitReason::Unfit)
    }

    fn unknown_variant(_: &str, words: &'static [&'static str]) -> Self {
        Misfit::new(MisfitReason::Word(words))
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Misfit::new(MisfitReason::Unfit)
    }

    fn missing_field(name: &'static str) -> Self {
        Misfit::new(MisfitReason::Missing(name))
    }

    fn duplicate_field(name: &'static str) -> Self {
        Misfit::new(MisfitReason::Twice).under(Way::Field(name))
    }
}

/// A node being decoded into a type.
#[derive(Clone, Copy)]
struct NodeDecoder<'n>(&'n Node);

impl NodeDecoder<'_> {
    fn whole_number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let number = match self.0 {
            Node::Number(number) => whole(number),
            Node::Text(text) => text_as_whole(text),
            _ => None,
        };
        match number {
            Some(Whole::Positive(number)) => visitor.visit_u64(number),
            Some(Whole::Negative(number)) => visitor.visit_i64(number),
            None => Err(match self.0 {
                Node::Number(_) => Misfit::new(MisfitReason::Wanted {
                    wanted: "a whole number".to_owned(),
                    found: "a fraction",
                }),
                other => Misfit::wanted("a whole number", other),
            }),
        }
    }

    fn text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Node::Text(text) => visitor.visit_str(text),
            Node::Number(number) => visitor.visit_string(number.to_string()),
            other => Err(Misfit::wanted("a text", other)),
        }
    }
}

enum Whole {
    Positive(u64),
    Negative(i64),
}

fn whole(number: &Number) -> Option<Whole> {
    /// From here on not every whole number is a float.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if let Some(number) = number.as_u64() {
        return Some(Whole::Positive(number));
    }
    if let Some(number) = number.as_i64() {
        return Some(Whole::Negative(number));
    }
    let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < EXACT_MAX)?;
    text_as_whole(&format!("{number:.0}"))
}

fn text_as_whole(text: &str) -> Option<Whole> {
    let text = text.trim();
    match text.parse::<u64>() {
        Ok(number) => Some(Whole::Positive(number)),
        Err(_) => text.parse::<i64>().ok().map(Whole::Negative),
    }
}

impl<'de> de::Deserializer<'de> for NodeDecoder<'_> {
    type Error = Misfit;

    /// Visits the exact value: a value of no fixed shape is read this way.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Node::Null => visitor.visit_unit(),
            Node::Bool(truth) => visitor.visit_bool(*truth),
            Node::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (None, Some(number), _) => visitor.visit_i64(number),
                (None, None, Some(number)) => visitor.visit_f64(number),
                (None, None, None) => Err(Misfit::new(MisfitReason::Range)),
            },
            Node::Text(text) => visitor.visit_str(text),
            Node::List(items) => {
                visitor.visit_seq(Items { items: items.iter().enumerate(), skips_null: false })
            }
            Node::Object(fields) => visitor.visit_map(Entries { fields: fields.iter(), value: None }),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.whole_number(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.whole_number(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.whole_number(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.text(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Node::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let seq = |items: &[Node], visitor: V| {
            visitor.visit_seq(Items { items: items.iter().enumerate(), skips_null: true })
        };
        match self.0 {
            Node::List(items) => seq(items, visitor),
            Node::Text(text) if text.trim().is_empty() => seq(&[], visitor),
            Node::Text(text) => match nested(text) {
                Some(Node::List(items)) => seq(&items, visitor),
                None if text.trim().starts_with('[') && text.trim().ends_with(']') => {
                    Err(Misfit::wanted("a list", self.0))
                }
                _ => seq(std::slice::from_ref(self.0), visitor),
            },
            one => seq(std::slice::from_ref(one), visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.0 {
            Node::Object(fields) => visitor.visit_map(Fields::of(fields, names)?),
            Node::Text(text) => match nested(text) {
                Some(Node::Object(fields)) => visitor.visit_map(Fields::of(&fields, names)?),
                _ => Err(Misfit::wanted("an object", self.0)),
            },
            other => Err(Misfit::wanted("an object", other)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let found = match self.0 {
            Node::Text(text) => words::variant(text, variants),
            _ => None,
        };
        let found = found.ok_or_else(|| Misfit::new(MisfitReason::Word(variants)))?;
        visitor.visit_enum(IntoDeserializer::<Misfit>::into_deserializer(found))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i128 u8 u16 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct map identifier
    }
}

struct Items<'n> {
    items: std::iter::Enumerate<std::slice::Iter<'n, Node>>,
    skips_null: bool,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Misfit;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Misfit> {
        let skips_null = self.skips_null;
        let next = self.items.find(|(_, item)| !(skips_null && **item == Node::Null));
        let decoded = |(index, item)| {
            seed.deserialize(NodeDecoder(item)).map_err(|misfit: Misfit| misfit.under(Way::Item(index)))
        };
        next.map(decoded).transpose()
    }
}

/// The fields of an object of no fixed shape.
struct Entries<'n> {
    fields: std::slice::Iter<'n, (String, Node)>,
    value: Option<(&'n str, &'n Node)>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        let Some((name, value)) = self.fields.next() else { return Ok(None) };
        self.value = Some((name, value));
        seed.deserialize(IntoDeserializer::<Misfit>::into_deserializer(name.as_str())).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        let (name, value) = self.value.take().ok_or_else(|| Misfit::new(MisfitReason::Unfit))?;
        seed.deserialize(NodeDecoder(value))
            .map_err(|misfit: Misfit| misfit.under(Way::Written(name.to_owned())))
    }
}

/// The wanted fields of an object, by our names, each once. Null counts as absent.
struct Fields<'n> {
    fields: std::vec::IntoIter<(&'static str, &'n Node)>,
    value: Option<(&'static str, &'n Node)>,
}

impl<'n> Fields<'n> {
    fn of(written: &'n [(String, Node)], names: &'static [&'static str]) -> Result<Self, Misfit> {
        let mut fields: Vec<(&'static str, &'n Node)> = Vec::new();
        for (name, node) in written.iter().filter(|(_, node)| *node != Node::Null) {
            let Some(name) = names.iter().find(|ours| same_name(ours, name)) else { continue };
            match fields.iter().find(|(known, _)| known == name) {
                None => fields.push((*name, node)),
                Some((_, same)) if *same == node => {}
                Some(_) => return Err(Misfit::new(MisfitReason::Twice).under(Way::Field(name))),
            }
        }
        Ok(Fields { fields: fields.into_iter(), value: None })
    }
}

impl<'de> de::MapAccess<'de> for Fields<'_> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        self.value = self.fields.next();
        let Some((name, _)) = self.value else { return Ok(None) };
        seed.deserialize(IntoDeserializer::<Misfit>::into_deserializer(name)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        let (name, node) = self.value.take().ok_or_else(|| Misfit::new(MisfitReason::Unfit))?;
        seed.deserialize(NodeDecoder(node)).map_err(|misfit: Misfit| misfit.under(Way::Field(name)))
    }
}
