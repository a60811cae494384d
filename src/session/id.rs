//! Identifiers and secrets, drawn from the random bytes that came with the request.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// SHA-256 of the concatenation of `pieces`.
#[must_use]
pub(crate) fn sha256(pieces: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for piece in pieces {
        hasher.update(piece);
    }
    hasher.finalize().into()
}

/// Lower-case base 32 without padding: 16 characters for 10 bytes.
pub(crate) fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    let (mut buffer, mut bits) = (0_u32, 0_u32);
    for byte in bytes {
        buffer = (buffer << 8 | u32::from(*byte)) & 0xFFFF;
        bits = bits.saturating_add(8);
        while bits >= 5 {
            bits = bits.saturating_sub(5);
            let index = usize::try_from(buffer >> bits & 31).unwrap_or_default();
            text.extend(BASE32.get(index).map(|byte| char::from(*byte)));
        }
    }
    if bits > 0 {
        let index = usize::try_from(buffer << 5_u32.saturating_sub(bits) & 31).unwrap_or_default();
        text.extend(BASE32.get(index).map(|byte| char::from(*byte)));
    }
    text
}

/// Hands out identifiers and secrets from 32 random bytes: the same bytes give the same ones, in the same order.
#[derive(Debug)]
pub struct Draw {
    entropy: [u8; 32],
    drawn: u64,
}

impl Draw {
    /// Begins with the random bytes of one request.
    #[must_use]
    pub const fn new(entropy: [u8; 32]) -> Self {
        Self { entropy, drawn: 0 }
    }

    /// The next 32 bytes; nobody without the entropy can tell them from random ones.
    pub fn bytes(&mut self) -> [u8; 32] {
        let drawn = sha256(&[b"a2a-edge/draw/v1", &self.entropy, &self.drawn.to_be_bytes()]);
        self.drawn = self.drawn.saturating_add(1);
        drawn
    }

    /// Sixteen characters of `a`–`z` and `2`–`7`: 80 random bits.
    pub fn short(&mut self) -> String {
        base32(self.bytes().get(..10).unwrap_or_default())
    }

    /// An identifier such as `task-k7wq2m4xvb3n6zp5`.
    pub fn id(&mut self, kind: &str) -> String {
        format!("{kind}-{}", self.short())
    }

    /// A secret of 256 random bits, as 43 URL-safe characters.
    pub fn secret(&mut self) -> String {
        URL_SAFE_NO_PAD.encode(self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_is_rfc_4648_in_lower_case() {
        for (bytes, text) in [
            ("", ""),
            ("f", "my"),
            ("fo", "mzxq"),
            ("foo", "mzxw6"),
            ("foobar", "mzxw6ytboi"),
        ] {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn the_same_entropy_draws_the_same_and_every_draw_differs() {
        let mut one = Draw::new([7; 32]);
        let mut two = Draw::new([7; 32]);
        let first = (one.id("task"), one.id("task"), one.secret());
        assert_eq!(first, (two.id("task"), two.id("task"), two.secret()));
        assert_ne!(first.0, first.1);
        assert_ne!(Draw::new([8; 32]).id("task"), first.0);
        assert_eq!(first.2.len(), 43);
        assert_eq!(first.0.len(), "task-".len() + 16);
    }
}
