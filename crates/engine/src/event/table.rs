//! Makes the decision events from their table in `events.rs`: the enum, its kinds, its fields and its roles. Declares none.

/// A row is `Event = "name" (role) { field: Type => Key, .. } guard(..) does(..);`. A field without a key is in no file. The
/// first key is that of the event's value. `=> Key (value)` says the value where the field alone is not enough, `[..]` is
/// an event that holds one value, and `says` is a value that is always the same.
macro_rules! events {
    ($(
        $(#[$doc:meta])*
        $event:ident = $name:literal ($role:ident)
        $({ $($(#[$what:meta])* $field:ident: $type:ty $(=> $key:ident $(($value:expr))?)?,)+ })?
        $([$inner:ident: $inner_type:ty => $inner_key:ident ($inner_value:expr)])?
        $(says $said_key:ident = $said:literal)?
        $(guard($guard:ident, $stops:expr))?
        $(does($then:ident $(, $only_if:expr)?))?
        ;
    )+) => {
        words! {
            /// The kinds of decision events, one for each [`Decision`].
            pub enum EventKind { $($event = $name,)+ }
        }

        /// One thing that the dispatcher decided or saw (DESIGN.md section 2).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Decision {
            $($(#[$doc])* $event $({ $($(#[$what])* $field: $type,)+ })? $(($inner_type))?,)+
        }

        impl EventKind {
            /// The keys of its fields; the first is that of its value.
            pub const fn keys(self) -> &'static [FieldKey] {
                match self {
                    $(EventKind::$event => &[
                        $($($(FieldKey::$key,)?)+)? $(FieldKey::$inner_key,)? $(FieldKey::$said_key,)?
                    ],)+
                }
            }

            const fn role(self) -> Role {
                match self {
                    $(EventKind::$event => Role::$role,)+
                }
            }
        }

        impl Decision {
            /// The kind of event.
            #[inline]
            pub const fn kind(&self) -> EventKind {
                match self {
                    $(Decision::$event { .. } => EventKind::$event,)+
                }
            }

            /// Passes its fields to `take`, the value first. The compiler repeats `take` for each field, whose key and sort of
            /// value it knows there: a trace has millions of events.
            #[inline(always)]
            #[expect(unused_variables, reason = "some fields are in no file")]
            pub fn each_field(&self, mut take: impl FnMut(FieldKey, FieldValue)) {
                match *self {
                    $(Decision::$event $({ $($field,)+ })? $(($inner))? => {
                        $($($(take(FieldKey::$key, value_of!($field $($value)?));)?)+)?
                        $(take(FieldKey::$inner_key, $inner_value);)?
                        $(take(FieldKey::$said_key, FieldValue::Word($said));)?
                    })+
                }
            }

            /// The guard that decided, and whether it stopped the compensation. A redemption that the upstream refuses has
            /// passed the guard.
            #[expect(unused_variables, reason = "few guards depend on a field")]
            pub const fn guard(&self) -> Option<(GuardKind, bool)> {
                match *self {
                    $(Decision::$event $({ $($field,)+ })? $(($inner))? => {
                        $(return Some((GuardKind::$guard, $stops));)?
                    })+
                }
                None
            }

            /// The compensation that this carries out. A reversal is carried out if its token was sent, whatever the answer.
            #[expect(unused_variables, reason = "few compensations depend on a field")]
            pub const fn carries_out(&self) -> Option<CompensationWord> {
                match *self {
                    $(Decision::$event $({ $($field,)+ })? $(($inner))? => {
                        $(return if true $(&& $only_if)? { Some(CompensationWord::$then) } else { None };)?
                    })+
                }
                None
            }
        }
    };
}

/// The value of a field.
macro_rules! value_of {
    ($field:ident) => {
        FieldValue::from($field)
    };
    ($field:ident $value:expr) => {
        $value
    };
}
