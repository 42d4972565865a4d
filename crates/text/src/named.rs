//! Macros for enums whose values have names.
//!
//! ```
//! use baselink_text::Code;
//! assert_eq!(Code::ALL[0].name(), "base-relative");
//! ```
//!
//! Deliberately absent: the enums themselves. Each is in the room that uses it.

/// Declares an enum with `ALL`, `name` and `from_name`, whose values can be copied, compared and hashed. Each value states
/// its name: `BaseRelative = "base-relative"`.
#[macro_export]
macro_rules! named {
    (
        $(#[$attribute:meta])*
        pub enum $type:ident {
            $($(#[$of_value:meta])* $value:ident = $name:literal,)+
        }
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $(#[$attribute])*
        pub enum $type {
            $($(#[$of_value])* $value,)+
        }

        impl $type {
            /// All values, in the order of declaration; `value as usize` is the index.
            #[doc(hidden)]
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// The value with this name.
            #[doc(hidden)]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.name() == name)
            }

            /// The name of the value in output.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }
    };
}

/// Implements `FromStr` by name. `$unknown` is the sentence about an unknown name, in which the first `{}` is that name, and
/// the second one the names of all values.
#[macro_export]
macro_rules! parse_by_name {
    ($($type:ty: $unknown:literal),+ $(,)?) => {
        $(impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(name: &str) -> std::result::Result<Self, Self::Err> {
                Self::from_name(name).ok_or_else(|| {
                    let known = Self::ALL.map(Self::name).join(", ");
                    $crate::Error::new(format!($unknown, name, known))
                })
            }
        })+
    };
}

/// Implements `Display` and `Serialize` by name.
#[macro_export]
macro_rules! display_by_name {
    ($($type:ty),+) => {
        $(impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(
                &self,
                serializer: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        })+
    };
}
