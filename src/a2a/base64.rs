//! The bytes of a part, which ProtoJSON takes in standard and URL-safe base64, padded or not.

/// The same bytes in padded standard base64; none for a text that is no base64 of one of both alphabets, or that has
/// bits left over.
pub(super) fn normalised(text: &str) -> Option<String> {
    let symbols = text.trim_end_matches('=');
    let padding = text.len().checked_sub(symbols.len())?;
    // A last group of two symbols is one byte, one of three is two; the bits beyond are zero.
    let (most_padding, spare_bits) = match symbols.len() & 3 {
        0 => (0, 0),
        2 => (2, 0b1111),
        3 => (1, 0b11),
        _ => return None,
    };
    let standard = symbols.bytes().map(|symbol| match symbol {
        b'-' => '+',
        b'_' => '/',
        symbol => char::from(symbol),
    });
    let mut normalised: String = standard.collect();
    let is_mixed = symbols.contains(['-', '_']) && symbols.contains(['+', '/']);
    let last = normalised.bytes().try_fold(0, |_, symbol| value(symbol))?;
    if padding > most_padding || is_mixed || last & spare_bits != 0 {
        return None;
    }
    for _ in 0..most_padding {
        normalised.push('=');
    }
    Some(normalised)
}

/// The six bits of a symbol of the standard alphabet.
const fn value(symbol: u8) -> Option<u8> {
    let (first, from) = match symbol {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => (b'+', 62),
        b'/' => (b'/', 63),
        _ => return None,
    };
    Some(symbol.saturating_sub(first).saturating_add(from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::base64::alphabet;
    use ::base64::engine::{
        DecodePaddingMode, Engine as _, GeneralPurpose, GeneralPurposeConfig, general_purpose,
    };
    use proptest::prelude::*;

    const ANY_PADDING: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, ANY_PADDING);
    const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, ANY_PADDING);

    fn decoded(text: &str) -> Option<String> {
        let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()?;
        Some(general_purpose::STANDARD.encode(bytes))
    }

    #[test]
    fn both_alphabets_with_and_without_padding_are_one() {
        for text in ["-_8", "-_8=", "+/8", "+/8="] {
            assert_eq!(normalised(text).as_deref(), Some("+/8="));
        }
        for text in ["", "AA", "AA=", "AA=="] {
            assert_eq!(normalised(text), decoded(text));
        }
        for text in ["=", "A", "AB", "AA===", "AAAA=", "AAB", "-/8", "A A", "AA=A", "é"] {
            assert_eq!(normalised(text), None, "{text}");
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn it_takes_and_gives_what_decoding_and_encoding_would(text in "[A-Da-d0-9+/_-]{0,9}={0,3}") {
            prop_assert_eq!(normalised(&text), decoded(&text));
        }

        #[test]
        fn any_text_is_judged_as_by_decoding(text in any::<String>()) {
            prop_assert_eq!(normalised(&text), decoded(&text));
        }
    }
}
