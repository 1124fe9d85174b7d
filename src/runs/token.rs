//! Claim tokens: the right to work on a run.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use crate::store::Digest;

/// The right to work on a run, 128 random bits. Whoever holds it may write to the run until somebody takes over: keep it
/// secret. Only its SHA-256 is stored.
///
/// `Debug` does not show it. As text (for a program in another language) it is 32 hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct ClaimToken([u8; 16]);

impl ClaimToken {
    /// A new token, from the system's source of randomness.
    pub(crate) fn new() -> Result<ClaimToken, getrandom::Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        Ok(ClaimToken(bits))
    }

    /// The token as text: 32 hexadecimal digits. To store or send it is to share the claim.
    pub fn reveal(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn digest(&self) -> Digest {
        Sha256::digest(self.0).into()
    }
}

/// The text is not a claim token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a claim token: 32 hexadecimal digits, lower case")]
pub struct InvalidClaimToken;

impl FromStr for ClaimToken {
    type Err = InvalidClaimToken;

    fn from_str(text: &str) -> Result<ClaimToken, InvalidClaimToken> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(InvalidClaimToken),
        };
        let mut bits = [0; 16];
        if text.len() != 2 * bits.len() {
            return Err(InvalidClaimToken);
        }
        for (bits, pair) in bits.iter_mut().zip(text.as_bytes().chunks(2)) {
            *bits = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(ClaimToken(bits))
    }
}

impl fmt::Debug for ClaimToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClaimToken(…)")
    }
}

/// Compares in a time that does not depend on where digests differ.
pub(crate) fn same_digest(a: &Digest, b: &Digest) -> bool {
    a.ct_eq(b).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_debug_does_not_show_it() {
        let token = ClaimToken::new().unwrap();
        assert_eq!(token.reveal().parse(), Ok(token.clone()));
        assert_ne!(ClaimToken::new().unwrap(), token);
        assert_eq!(format!("{token:?}"), "ClaimToken(…)");
        for bad in ["", "0", &"g".repeat(32), &"A".repeat(32), &"0".repeat(33), "é".repeat(16).as_str()] {
            assert_eq!(bad.parse::<ClaimToken>(), Err(InvalidClaimToken));
        }
    }
}
