//! How far a run of plain string characters goes. This loop sees most bytes of a message.

/// Up to here a run is short, as most are.
const SHORT: usize = 32;

/// The number of bytes up to the first quotation mark, backslash or control character, or to the end.
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().take(SHORT / 8).enumerate() {
        let special = specials(u64::from_le_bytes(*word));
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    if bytes.len() >= SHORT {
        return long_plain_length(bytes);
    }
    words.len() * 8 + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

/// The same for a run that is not short: by blocks, whose bytes are compared all at once. What is behind them is short.
fn long_plain_length(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<SHORT>();
    let special = |block: &&[u8; SHORT]| block.iter().fold(false, |found, &byte| found | is_special(byte));
    let plain = SHORT * blocks.iter().take_while(|block| !special(block)).count();
    plain + plain_length(&bytes[plain..])
}

/// The high bit of each special byte of eight. Above the lowest one a borrow can set others, which say nothing.
#[inline]
const fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let quotes = word ^ (ONES * b'"' as u64);
    let backslashes = word ^ (ONES * b'\\' as u64);
    let zeros = (quotes.wrapping_sub(ONES) & !quotes) | (backslashes.wrapping_sub(ONES) & !backslashes);
    (zeros | (word.wrapping_sub(ONES * 0x20) & !word)) & (ONES << 7)
}

/// Whether a string cannot simply go on with this byte.
#[inline]
pub(super) const fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_byte_is_found_at_every_place() {
        for length in 0..70 {
            let plain = vec![b'x'; length];
            assert_eq!(plain_length(&plain), length);
            for place in 0..length {
                for special in [b'"', b'\\', 0, 0x1f] {
                    let mut bytes = plain.clone();
                    bytes[place] = special;
                    assert_eq!(plain_length(&bytes), place);
                }
                for ordinary in [b' ', 0x7f, 0x80, 0xff] {
                    let mut bytes = plain.clone();
                    bytes[place] = ordinary;
                    assert_eq!(plain_length(&bytes), length);
                }
            }
        }
    }
}
