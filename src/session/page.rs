//! Page tokens: where a list goes on, sealed so that nobody can write one (session coordination, §9.2).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

use super::Session;
use super::id::sha256;

const SEAL_LEN: usize = 12;

impl Session {
    fn page_seal(&self, list: &str, position: &str) -> [u8; 32] {
        let lengths = [list.len().to_be_bytes(), position.len().to_be_bytes()].concat();
        sha256(&[
            b"a2a-edge/page/v1",
            &self.page_key,
            &lengths,
            list.as_bytes(),
            position.as_bytes(),
        ])
    }

    /// A token that says "go on after `position`" in one list: `list` names the list, its filters and its reader,
    /// so that the token is good for nothing else.
    #[must_use]
    pub fn page_token(&self, list: &str, position: &str) -> String {
        let seal = self.page_seal(list, position);
        let mut bytes = seal.get(..SEAL_LEN).unwrap_or_default().to_vec();
        bytes.extend_from_slice(position.as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position in a token of the same list, or `None` for any other text.
    #[must_use]
    pub fn page_position(&self, list: &str, token: &str) -> Option<String> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (seal, position) = bytes.split_at_checked(SEAL_LEN)?;
        let position = std::str::from_utf8(position).ok()?;
        let expected = self.page_seal(list, position);
        let genuine: bool = expected.get(..SEAL_LEN)?.ct_eq(seal).into();
        genuine.then(|| position.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_its_own_list_and_unaltered() {
        let session = Session {
            page_key: [3; 32],
            ..Session::default()
        };
        let token = session.page_token("tasks of p-1", "2026|task-é");
        assert_eq!(
            session.page_position("tasks of p-1", &token).as_deref(),
            Some("2026|task-é")
        );
        assert_eq!(session.page_position("tasks of p-2", &token), None);
        let other = Session {
            page_key: [4; 32],
            ..Session::default()
        };
        assert_eq!(other.page_position("tasks of p-1", &token), None);
        for (index, _) in token.char_indices() {
            let mut altered: Vec<char> = token.chars().collect();
            altered[index] = if altered[index] == 'A' { 'B' } else { 'A' };
            let altered: String = altered.into_iter().collect();
            assert_eq!(session.page_position("tasks of p-1", &altered), None, "{altered}");
        }
        assert_eq!(session.page_position("tasks of p-1", ""), None);
        assert_eq!(session.page_position("tasks of p-1", "é"), None);
    }
}
