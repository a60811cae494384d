//! The core's text doors, each under its name in JavaScript: those of the validators and those of session coordination,
//! each a feature. What they take and give is told where they stand, in `a2a_edge::dispatch` and `a2a_edge::doors`; the
//! package's own TypeScript makes objects of it.

#[cfg(feature = "coordination")]
pub mod coordination;
#[cfg(feature = "validators")]
pub mod validators;

/// Exports functions from texts to a text under these names.
macro_rules! doors {
    ($($js:ident $rust:ident($($text:ident),*) = $door:expr;)*) => {
        $(
            #[doc = concat!("`", stringify!($js), "`: see the door.")]
            #[wasm_bindgen::prelude::wasm_bindgen(js_name = $js)]
            #[must_use]
            pub fn $rust($($text: &str),*) -> String {
                $door($($text),*)
            }
        )*
    };
}
use doors;
