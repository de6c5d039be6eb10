//! A record's place in the inputs, packed into the token that the sink reports it by.

const LINE_BITS: u32 = 40;

/// The input (in order of reading) and the line on which the record starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) file: usize,
    pub(super) line: u64,
}

impl Position {
    /// The token; never 0, lines count from 1.
    pub(super) fn token(self) -> u64 {
        (self.file as u64) << LINE_BITS | self.line & ((1 << LINE_BITS) - 1)
    }

    pub(super) fn from_token(token: u64) -> Self {
        Self { file: (token >> LINE_BITS) as usize, line: token & ((1 << LINE_BITS) - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_holds_file_and_line() {
        for (file, line) in [(0, 1), (3, 12_345), (9_999_999, (1 << 40) - 1)] {
            let position = Position { file, line };
            assert_eq!(Position::from_token(position.token()), position);
        }
    }
}
