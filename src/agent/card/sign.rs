//! Signing cards (A2A 1.0, §8.4): a JWS with ES256 over the canonical form of the card, which it leaves out.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::SecretKey;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::a2a::card::AgentCardSignature;
use crate::json;

/// The longest `kid`, in bytes.
const KID_LIMIT: usize = 256;

/// A private key that signs cards, and what it is called.
///
/// Signatures are deterministic (RFC 6979): the same card has the same signature on every host.
#[derive(Clone)]
pub struct CardKey {
    key: SigningKey,
    kid: String,
}

/// What a key must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAKey(&'static str);

impl fmt::Display for NotAKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

impl std::error::Error for NotAKey {}

impl fmt::Debug for CardKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CardKey")
            .field("kid", &self.kid)
            .finish_non_exhaustive()
    }
}

impl CardKey {
    /// Reads a private key on P-256: a JWK (RFC 7517, with `d`), or PEM, in PKCS #8 or SEC 1. It is called by the JWK's
    /// `kid`, else by its thumbprint (RFC 7638).
    ///
    /// # Errors
    /// What was expected; nothing of the text is told.
    pub fn parse(text: &str) -> Result<Self, NotAKey> {
        let text = text.trim();
        if text.starts_with('{') {
            return Self::from_jwk(text);
        }
        let key = SecretKey::from_pem(text).map_err(|_| {
            NotAKey("expected a private key on P-256: PEM in PKCS #8 or SEC 1, without a password, or a JWK")
        })?;
        Ok(Self::named(&key, None))
    }

    fn from_jwk(text: &str) -> Result<Self, NotAKey> {
        const JWK: NotAKey =
            NotAKey("expected a JWK with kty EC, crv P-256 and d, and x and y that belong to it");
        let jwk = json::parse_text(text).map_err(|_| JWK)?;
        let member = |name: &str| jwk.get(name).and_then(Value::as_str);
        if (member("kty"), member("crv")) != (Some("EC"), Some("P-256")) {
            return Err(JWK);
        }
        let secret = URL_SAFE_NO_PAD.decode(member("d").ok_or(JWK)?).map_err(|_| JWK)?;
        let key = SecretKey::from_slice(&secret).map_err(|_| JWK)?;
        let kid = member("kid");
        if kid.is_some_and(|kid| kid.is_empty() || kid.len() > KID_LIMIT) {
            return Err(NotAKey("expected a kid of 1 to 256 bytes"));
        }
        let read = Self::named(&key, kid);
        let own = read.public_jwk();
        let belongs = |name: &str| jwk.get(name).is_none_or(|value| own.get(name) == Some(value));
        if secret.len() == 32 && belongs("x") && belongs("y") {
            Ok(read)
        } else {
            Err(JWK)
        }
    }

    fn named(key: &SecretKey, kid: Option<&str>) -> Self {
        let mut named = Self {
            key: SigningKey::from(key),
            kid: String::new(),
        };
        named.kid = kid.map_or_else(|| named.thumbprint(), str::to_owned);
        named
    }

    /// What the key is called.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The two coordinates of the public key.
    fn point(&self) -> [String; 2] {
        let point = self.key.verifying_key().to_sec1_point(false);
        // A byte that says how the point is written, then both.
        let bytes = point.as_bytes().get(1..).unwrap_or_default();
        let (x, y) = bytes.split_at_checked(32).unwrap_or_default();
        [x, y].map(|half| URL_SAFE_NO_PAD.encode(half))
    }

    fn thumbprint(&self) -> String {
        let [x, y] = self.point();
        let required = json!({"crv": "P-256", "kty": "EC", "x": x, "y": y});
        URL_SAFE_NO_PAD.encode(Sha256::digest(json::to_string(&required)))
    }

    /// The public key as a JWK: what those who check signatures need.
    #[must_use]
    pub fn public_jwk(&self) -> Value {
        let [x, y] = self.point();
        json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": self.kid, "alg": "ES256", "use": "sig"})
    }

    /// The signature of a card that has none yet.
    pub(super) fn sign(&self, card: &Value) -> AgentCardSignature {
        let header = json!({"alg": "ES256", "kid": self.kid, "typ": "JOSE"});
        let protected = URL_SAFE_NO_PAD.encode(json::to_string(&header));
        let payload = URL_SAFE_NO_PAD.encode(json::canonical(card));
        let signature: Signature = self.key.sign(format!("{protected}.{payload}").as_bytes());
        AgentCardSignature {
            protected,
            signature: URL_SAFE_NO_PAD.encode(signature.to_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    /// The key of RFC 6979, A.2.5.
    const SECRET: [u8; 32] = [
        0xC9, 0xAF, 0xA9, 0xD8, 0x45, 0xBA, 0x75, 0x16, 0x6B, 0x5C, 0x21, 0x57, 0x67, 0xB1, 0xD6, 0x93, 0x4E,
        0x50, 0xC3, 0xDB, 0x36, 0xE8, 0x9B, 0x12, 0x7B, 0x8A, 0x62, 0x2B, 0x12, 0x0F, 0x67, 0x21,
    ];

    fn jwk() -> Value {
        json!({"kty": "EC", "crv": "P-256", "d": URL_SAFE_NO_PAD.encode(SECRET)})
    }

    fn pem(label: &str, before: &[u8], after: &[u8]) -> String {
        let der = STANDARD.encode([before, &SECRET, after].concat());
        let lines: Vec<&str> = der
            .as_bytes()
            .chunks(64)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        format!(
            "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
            lines.join("\n")
        )
    }

    #[test]
    fn signatures_are_those_of_rfc_6979() {
        let key = CardKey::parse(&jwk().to_string()).unwrap();
        let signature: Signature = key.key.sign(b"sample");
        let hex: String = signature
            .to_bytes()
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        assert_eq!(
            hex,
            "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716\
             F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
        );
    }

    #[test]
    fn a_key_is_read_in_three_forms() {
        // PKCS #8 with the algorithm and the curve, and SEC 1 with the curve.
        let pkcs8 = [
            0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
            0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01,
            0x01, 0x04, 0x20,
        ];
        let curve = [
            0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
        ];
        let forms = [
            jwk().to_string(),
            pem("PRIVATE KEY", &pkcs8, &[]),
            pem(
                "EC PRIVATE KEY",
                &[0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20],
                &curve,
            ),
        ];
        for form in forms {
            let key = CardKey::parse(&format!("\n{form}\n")).unwrap();
            // RFC 6979, A.2.5 has the point, too.
            assert_eq!(
                key.public_jwk()["x"],
                "YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y"
            );
            assert_eq!(key.kid().len(), 43);
            assert!(!format!("{key:?}").contains("ya-p2E"), "{key:?}");
        }
    }

    #[test]
    fn what_is_no_such_key_is_refused() {
        let parse = |value: Value| CardKey::parse(&value.to_string());
        let with = |member: &str, value: Value| {
            let mut jwk = jwk();
            jwk[member] = value;
            parse(jwk)
        };
        let key = parse(jwk()).unwrap();
        for member in ["x", "y"] {
            assert!(with(member, key.public_jwk()[member].clone()).is_ok(), "{member}");
            assert!(with(member, json!("AAAA")).is_err(), "{member}");
        }
        assert!(with("crv", json!("P-384")).is_err());
        assert!(with("kty", json!("OKP")).is_err());
        assert!(with("d", json!("AAAA")).is_err());
        assert!(with("d", json!(URL_SAFE_NO_PAD.encode([0; 32]))).is_err());
        assert!(with("d", json!(URL_SAFE_NO_PAD.encode([0xFF; 32]))).is_err());
        assert!(with("d", Value::Null).is_err());
        assert_eq!(with("kid", json!("k".repeat(256))).unwrap().kid().len(), 256);
        assert!(with("kid", json!("k".repeat(257))).is_err());
        assert!(with("kid", json!("")).is_err());
        for text in [
            "",
            "x",
            "{",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        ] {
            assert!(CardKey::parse(text).is_err(), "{text}");
        }
    }
}
