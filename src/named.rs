//! Values of a closed list, each in a table with its name or its sentence.
//!
//! ```
//! use baselink::diagnostic::Code;
//! assert_eq!(Code::ALL[0].name(), "base-relative");
//! ```
//!
//! A table has its rows in the order in which the values are declared: `value as usize` finds the row. A row in another
//! place does not compile.
//!
//! Deliberately absent: the tables. Each is beside its values.

/// The values of a table, each in the row of its number.
macro_rules! values {
    ($table:ident) => {{
        let mut values = [$table[0].0; $table.len()];
        let mut at = 0;
        while at < $table.len() {
            assert!($table[at].0 as usize == at, "a row stands where its value is declared");
            values[at] = $table[at].0;
            at += 1;
        }
        values
    }};
}
pub(crate) use values;

/// Displays each value by its name, and serializes it as that.
macro_rules! display_by_name {
    ($($type:ty),+) => {
        $(impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        #[cfg(feature = "serde")]
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
pub(crate) use display_by_name;
