package attachment

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	_ "image/gif" // pictures that previews are drawn of
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"

	"golang.org/x/image/riff"
	_ "golang.org/x/image/webp" // likewise
)

// The largest pictures of which previews are drawn. A decoder takes memory by what the picture's header says, whatever the file's size.
const (
	maxSide   = 16_384     // pixels
	maxPixels = 40_000_000 // of 4 bytes, as most decoders have them
	maxMemory = 153 << 20  // bytes that decoding may take: drawing takes up to 7 MiB more
	maxHead   = 256 << 10  // bytes of a file within which its picture begins: what is known of it when it has come
	maxChunk  = 16 << 20   // bytes of a WebP's picture, which its decoder reads into memory
)

var errNoPicture = errors.New("attachment: no picture of which a preview is drawn")

// pixels returns the width and the height of a picture; zeros for what is none, or takes too much memory to be drawn.
func pixels(from io.ReadSeeker) (width, height int) {
	c, format, err := image.DecodeConfig(from)
	if err != nil || c.Width <= 0 || c.Height <= 0 || c.Width > maxSide || c.Height > maxSide || c.Width > maxPixels/c.Height {
		return 0, 0
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return 0, 0
	}
	if n, err := memoryOf(from, format, c); err != nil || n > maxMemory {
		return 0, 0
	}
	return c.Width, c.Height
}

// memoryOf returns how many bytes a decoder takes for a picture.
func memoryOf(from io.Reader, format string, c image.Config) (int64, error) {
	n := int64(c.Width) * int64(c.Height)
	switch format {
	case "gif":
		return 2 * n, nil // an interlaced one is copied
	case "png":
		return memoryOfPNG(from, n)
	case "jpeg":
		return memoryOfJPEG(from, c)
	case "webp":
		return memoryOfWebP(from, n)
	}
	return 0, errNoPicture
}

func memoryOfPNG(from io.Reader, pixels int64) (int64, error) {
	var head [29]byte // the signature, and what IHDR says
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, err
	}
	n := 4 * pixels
	if head[24] == 16 { // bits of a color
		n *= 2
	}
	if head[28] != 0 { // interlaced: its passes together are as large as the whole
		n *= 2
	}
	return n, nil
}

// memoryOfJPEG looks for the frame's header as strictly as the standard has it; the decoder takes a little more for a JPEG.
func memoryOfJPEG(from io.Reader, c image.Config) (int64, error) {
	r := bufio.NewReader(from)
	if _, err := r.Discard(2); err != nil {
		return 0, err
	}
	for {
		marker, body, err := segment(r)
		if err != nil {
			return 0, err
		}
		if marker < 0xc0 || marker > 0xc2 { // not the header of a frame that the decoder knows
			if _, err := r.Discard(body); err != nil {
				return 0, err
			}
			continue
		}
		head := make([]byte, body)
		if _, err := io.ReadFull(r, head); err != nil {
			return 0, err
		}
		samples, err := samplesOf(head, c)
		if marker == 0xc2 { // progressive: a coefficient of 4 bytes for each
			samples *= 5
		}
		if c.ColorModel != color.GrayModel && c.ColorModel != color.YCbCrModel {
			samples += 4 * int64(c.Width) * int64(c.Height) // is converted
		}
		return samples, err
	}
}

// segment reads a marker, and how many bytes its segment has behind their number.
func segment(r *bufio.Reader) (marker byte, body int, err error) {
	if marker, err = r.ReadByte(); err != nil || marker != 0xff {
		return 0, 0, errors.Join(errNoPicture, err)
	}
	for marker == 0xff {
		if marker, err = r.ReadByte(); err != nil {
			return 0, 0, err
		}
	}
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return 0, 0, err
	}
	body = int(binary.BigEndian.Uint16(size[:])) - 2
	if marker < 0xc0 || marker >= 0xd0 && marker <= 0xd9 || body < 0 { // what has no segment
		return 0, 0, errNoPicture
	}
	return marker, body, nil
}

// samplesOf returns how many samples a JPEG's components have, in whole blocks, by the header of its frame: 8 bits a sample, height,
// width, the number of components, and of each its id, its two factors and its table.
func samplesOf(head []byte, c image.Config) (n int64, err error) {
	if len(head) < 6 || len(head) != 6+3*int(head[5]) || head[5] == 0 {
		return 0, errNoPicture
	}
	h, v := int64(head[7]>>4), int64(head[7]&15) // of the first component, which no other one exceeds
	if head[5] == 1 {
		h, v = 1, 1
	}
	if h == 0 || v == 0 {
		return 0, errNoPicture
	}
	units := (int64(c.Width) + 8*h - 1) / (8 * h) * ((int64(c.Height) + 8*v - 1) / (8 * v))
	for factors := range slices.Chunk(head[6:], 3) {
		n += units * 64 * int64(factors[1]>>4) * int64(factors[1]&15)
	}
	if head[5] == 1 {
		n = units * 64
	}
	return n, nil
}

// memoryOfWebP returns an error for one with lossless parts, such as transparency: its decoder takes 2.7 KB for each of up to 65,536 tables
// that 3 bytes of the file may announce.
func memoryOfWebP(from io.Reader, pixels int64) (int64, error) {
	_, chunks, err := riff.NewReader(from)
	if err != nil {
		return 0, err
	}
	for {
		id, size, _, err := chunks.Next()
		if err != nil {
			return 0, err
		}
		switch string(id[:]) {
		case "VP8 ":
			if size > maxChunk {
				return 0, errNoPicture
			}
			return 2*pixels + 2*int64(size), nil
		case "VP8L", "ALPH":
			return 0, errNoPicture
		}
	}
}

// within is a reader that ends with its context: decoders take none, and work as long as they get bytes.
type within struct {
	ctx context.Context // of the caller: io.Reader takes none
	io.Reader
}

func (r within) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}
