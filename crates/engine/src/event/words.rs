//! Closed sets of words of the file formats as enums: each word stands once, beside its variant.

/// Defines an enum whose variants each have a word, with `ALL` in the order of definition, `as_str` and `parse`. With
/// `: Type`, each variant also has a row of this type: what there is to know of it.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident: $row_type:ty {
        $($(#[$what:meta])* $variant:ident = $word:literal => $row:expr,)+
    }) => {
        $crate::words! { $(#[$doc])* pub enum $name { $($(#[$what])* $variant = $word,)+ } }

        impl $name {
            const fn row(self) -> $row_type {
                match self {
                    $($name::$variant => $row,)+
                }
            }
        }
    };
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$what:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(
                #[doc = concat!("`", $word, "`.")]
                $(#[$what])*
                $variant,
            )+
        }

        impl $name {
            /// All variants, in the order of their definition.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$variant),+];

            /// Their words, in the same order.
            pub const WORDS: [&'static str; $name::ALL.len()] = [$($word),+];

            /// Each word with its variant, in the same order.
            pub const TABLE: [(&'static str, $name); $name::ALL.len()] = [$(($word, $name::$variant)),+];

            /// The word in files.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// The word as a further key of a JSON object: `,"word":`.
            pub const fn as_json(self) -> &'static str {
                match self {
                    $($name::$variant => concat!(",\"", $word, "\":"),)+
                }
            }

            /// The word in quotes, as in JSON.
            pub const fn as_quoted(self) -> &'static str {
                match self {
                    $($name::$variant => concat!("\"", $word, "\""),)+
                }
            }

            /// The variant of `word`.
            pub fn parse(word: &str) -> Option<$name> {
                $name::ALL.into_iter().find(|one| one.as_str() == word)
            }
        }

        impl $crate::event::serde::Serialize for $name {
            fn serialize<S: $crate::event::serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::event::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::event::serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let word = <String as $crate::event::serde::Deserialize>::deserialize(from)?;
                $name::parse(&word).ok_or_else(|| $crate::event::serde::de::Error::custom(format!("unknown word `{word}`")))
            }
        }
    };
}
