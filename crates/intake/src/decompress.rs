//! Decompresses gzip and zstd, and names other compressions. Opens no files.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// The first bytes of other compressed files, and the programs that write them.
const NOT_DECODED: [(&[u8], &str); 5] = [
    (b"\xfd7zX", "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
    (b"7z\xbc\xaf", "7-Zip"),
    (b"\x04\x22\x4d\x18", "lz4"),
];

/// The error of a damaged compressed source. It appears only where the bytes end or make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The program that compresses like this.
    pub by: &'static str,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its {} data is cut short, damaged or followed by other bytes", self.by)
    }
}

impl Error for Damaged {}

/// A decoder that reports its own errors as [`Damaged`]; errors of the source pass unchanged.
struct Decoded<R> {
    decoder: R,
    by: &'static str,
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| match error.raw_os_error() {
            Some(_) => error,
            None if error.kind() == io::ErrorKind::Interrupted => error,
            None => io::Error::new(io::ErrorKind::InvalidData, Damaged { by: self.by }),
        })
    }
}

/// The bytes of all zstd frames of a source.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    /// A frame has begun, and its checksum was not compared yet.
    in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(source: R) -> ZstdFrames<R> {
        ZstdFrames { source, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Begins the next frame that holds data; false: the source has ended.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
                    if skipped < length.into() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(of_source(error)),
            }
        }
        Ok(false)
    }

    /// Compares the checksum of a frame that has ended.
    fn end(&mut self) -> io::Result<()> {
        self.in_frame = false;
        let stated = self.decoder.get_checksum_from_data();
        match stated.is_none() || stated == self.decoder.get_calculated_checksum() {
            true => Ok(()),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.in_frame && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(of_source)?;
                continue;
            }
            if self.in_frame {
                self.end()?;
            }
            if !self.begin()? {
                return Ok(0);
            }
        }
    }
}

/// The error of the system behind an error of the decoder, if there is one.
fn of_source(error: FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(code) = inner.downcast_ref().and_then(io::Error::raw_os_error) {
            return io::Error::from_raw_os_error(code);
        }
        cause = inner.source();
    }
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// The decompressed bytes of `source`. The first bytes tell gzip and zstd; anything else passes unchanged.
///
/// # Errors
/// Errors of `source`; a source that is compressed in another way, or twice.
pub fn decode<'a>(source: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
    let (magic, whole) = beginning(source)?;
    let whole = BufReader::with_capacity(1 << 16, whole);
    let decoded: Box<dyn Read + Send + 'a> = match () {
        () if magic.starts_with(GZIP) => {
            Box::new(Decoded { decoder: flate2::bufread::MultiGzDecoder::new(whole), by: "gzip" })
        }
        () if magic.starts_with(ZSTD) => Box::new(Decoded { decoder: ZstdFrames::new(whole), by: "zstd" }),
        () => return Ok(Box::new(whole.into_inner())),
    };
    let (magic, decoded) = beginning(decoded)?;
    match magic.starts_with(GZIP) || magic.starts_with(ZSTD) {
        true => Err(io::Error::new(io::ErrorKind::Unsupported, "it is compressed twice; only one layer is unpacked")),
        false => Ok(Box::new(decoded)),
    }
}

/// The first bytes of a source, and the whole source.
fn beginning<'a>(mut source: impl Read + Send + 'a) -> io::Result<(Vec<u8>, impl Read + Send + 'a)> {
    let mut magic = Vec::with_capacity(4);
    source.by_ref().take(4).read_to_end(&mut magic)?;
    if let Some((_, writer)) = NOT_DECODED.iter().find(|(first, _)| magic.starts_with(first)) {
        let message = format!("it is compressed by {writer}; only gzip and zstd are read");
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    Ok((magic.clone(), io::Cursor::new(magic).chain(source)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    #[test]
    fn other_compressions_are_named() {
        for (first, writer) in NOT_DECODED {
            let error = decode(first).err().unwrap();
            assert_eq!(error.to_string(), format!("it is compressed by {writer}; only gzip and zstd are read"));
        }
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn decoded(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        decode(bytes)?.read_to_end(&mut text)?;
        Ok(text)
    }

    fn damage(bytes: &[u8]) -> Option<Damaged> {
        decoded(bytes).unwrap_err().get_ref()?.downcast_ref().copied()
    }

    #[test]
    fn gzip_and_zstd_are_recognised_by_their_first_bytes() {
        let text = b"{\"tool\":\"a\"}\n".repeat(1_000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        let two = gzip.finish().unwrap().repeat(2);
        assert_eq!(decoded(&two).unwrap(), text.repeat(2), "several gzip members are one source");
        assert_eq!(decoded(&zstd(&text)).unwrap(), text);
        assert_eq!(decoded(&text).unwrap(), text);
        assert_eq!(decoded(b"{}").unwrap(), b"{}");
        for cut in [&two[..two.len() / 3], &[&*two, b"x"].concat()] {
            assert_eq!(damage(cut), Some(Damaged { by: "gzip" }));
        }
    }

    #[test]
    fn the_frames_of_a_zstd_source_are_one_text_and_a_frame_of_other_data_is_skipped() {
        let text = b"{\"tool\":\"a\"}\n".repeat(100_000);
        let other = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
        let frames = [zstd(&text), other.clone(), zstd(b""), zstd(b"end"), other.clone()].concat();
        assert_eq!(decoded(&frames).unwrap(), [&*text, b"end"].concat());
        let short = [&zstd(b"a"), &other[..9]].concat();
        assert_eq!(damage(&short), Some(Damaged { by: "zstd" }));
    }

    #[test]
    fn damaged_zstd_is_an_error_and_never_another_text() {
        let text: Vec<u8> = (0..3_000_u32).flat_map(|n| format!("{{\"id\":{}}}\n", n * n).into_bytes()).collect();
        let whole = zstd(&text);
        let by = Some(Damaged { by: "zstd" });
        for end in (4..whole.len()).step_by(97) {
            assert_eq!(damage(&whole[..end]), by, "cut at {end}");
        }
        assert_eq!(damage(&[&*whole, b"more"].concat()), by);
        for at in (4..whole.len()).step_by(13) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            assert!(!decoded(&bytes).is_ok_and(|other| other != text), "changed at {at}");
        }
    }
}
