package attachment_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/attachment"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/files"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// chunk returns a chunk of a PNG.
func chunk(kind string, data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// pngOf returns a PNG of a size, of which only as many bytes follow the header as the rows are given.
func pngOf(w, h int, depth, colors, interlaced byte, rows []byte) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(head, depth, colors, 0, 0, interlaced))...)
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(rows)
	_ = z.Close()
	return append(append(out, chunk("IDAT", packed.Bytes())...), chunk("IEND", nil)...)
}

// jpegOf returns the beginning of a JPEG: its tables, its frame, whose components have these factors, and the header of a scan.
func jpegOf(t *testing.T, frame byte, w, h int, factors ...byte) []byte {
	t.Helper()
	var small bytes.Buffer
	require.NoError(t, jpeg.Encode(&small, image.NewRGBA(image.Rect(0, 0, 8, 8)), nil))
	out := bytes.Clone(small.Bytes()[:bytes.Index(small.Bytes(), []byte{0xff, 0xc0})])
	tables := small.Bytes()[bytes.Index(small.Bytes(), []byte{0xff, 0xc4}):bytes.Index(small.Bytes(), []byte{0xff, 0xda})]
	out = append(append(out, tables...), 0xff, frame, 0, byte(8+3*len(factors)), 8, byte(h>>8), byte(h), byte(w>>8), byte(w), byte(len(factors)))
	scan := []byte{0xff, 0xda, 0, byte(6 + 2*len(factors)), byte(len(factors))}
	for i, f := range factors {
		out, scan = append(out, byte(i), f, 0), append(scan, byte(i), 0)
	}
	last := byte(63)
	if frame == 0xc2 {
		last = 0
	}
	return append(append(out, scan...), 0, last, 0)
}

func webpOf(chunks ...string) []byte {
	body := "WEBP"
	for _, c := range chunks {
		body += c
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// riffOf returns a chunk of a WebP that announces a size.
func riffOf(kind string, size uint32, data string) string {
	return kind + string(binary.LittleEndian.AppendUint32(nil, size)) + data
}

// What a picture takes when it is decoded follows from its header, not from its bytes: previews are drawn of those that take at most
// 160 MiB.
func TestPicturesThatAreTooLarge(t *testing.T) { // alone, because it measures the memory
	const (
		gray, colors = 0, 2
		whole, half  = 0x11, 0x22 // factors of a JPEG's component
	)
	frame := "\x30\x00\x00\x9d\x01\x2a\x10\x00\x10\x00" // 16 by 16 pixels
	extended := func(flags string) string { return riffOf("VP8X", 10, flags+"\x00\x00\x00\x0f\x00\x00\x0f\x00\x00") }
	for _, c := range []struct {
		name    string
		picture []byte
		drawn   bool
	}{
		{"PNG", pngOf(6324, 6324, 8, 6, 0, nil), true},
		{"PNG of more than 40 megapixels", pngOf(6325, 6325, 8, gray, 0, nil), false},
		{"PNG of one long row", pngOf(1, 40_000_000, 8, gray, 0, nil), false},
		{"PNG of the longest row", pngOf(16_384, 2, 8, gray, 0, nil), true},
		{"PNG that is longer", pngOf(2, 16_385, 8, gray, 0, nil), false},
		{"PNG of 16 bits", pngOf(4400, 4400, 16, colors, 0, nil), true},
		{"larger PNG of 16 bits", pngOf(4500, 4500, 16, colors, 0, nil), false},
		{"interlaced PNG", pngOf(4400, 4400, 8, 6, 1, nil), true},
		{"larger interlaced PNG", pngOf(4500, 4500, 8, 6, 1, nil), false},
		{"JPEG", jpegOf(t, 0xc0, 6300, 6300, half, whole, whole), true},
		{"JPEG with all colors", jpegOf(t, 0xc0, 6300, 6300, whole, whole, whole), true},
		{"progressive JPEG", jpegOf(t, 0xc2, 4500, 3500, half, whole, whole), true},
		{"larger progressive JPEG", jpegOf(t, 0xc2, 6300, 6300, half, whole, whole), false},
		{"progressive JPEG with all colors", jpegOf(t, 0xc2, 4500, 3500, whole, whole, whole), false},
		{"JPEG for print", jpegOf(t, 0xc0, 4400, 4400, whole, whole, whole, whole), true},
		{"larger JPEG for print", jpegOf(t, 0xc0, 5000, 5000, whole, whole, whole, whole), false},
		{"JPEG with a marker where none is", append([]byte{0xff, 0xd8, 0xff, 0xd0}, jpegOf(t, 0xc0, 9, 9, whole)[2:]...), false},
		{"WebP", webpOf(riffOf("VP8 ", 10, frame)), true},
		{"WebP with more about it", webpOf(extended("\x00"), riffOf("ICCP", 2, "ab"), riffOf("VP8 ", 10, frame)), true},
		{"WebP that announces much", webpOf(riffOf("VP8 ", 1<<30, frame)), false},
		{"WebP whose tables may take gigabytes", webpOf(riffOf("VP8L", 6, "\x2f\x0f\xc0\x03\x00\x00")), false},
		{"WebP with such transparency", webpOf(extended("\x10"), riffOf("ALPH", 2, "\x01\x00"), riffOf("VP8 ", 10, frame)), false},
		{"no picture", []byte("BM"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, h := attachment.Pixels(bytes.NewReader(c.picture))
			require.Equal(t, c.drawn, w > 0, "%d × %d", w, h)
			if !c.drawn {
				return
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, _ = image.Decode(bytes.NewReader(c.picture)) // its bytes end too early, after all memory was taken
			runtime.ReadMemStats(&after)
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(160<<20))
		})
	}
}

// A picture is drawn smaller on white: its longer side has 320 or 1,024 pixels, or as many as before. Each is the average of those that it
// stands for.
func TestPreviewsAreDrawn(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	d := newDesk(t, w, nil)
	owner := d.as(principal.Owner)
	striped := image.NewNRGBA(image.Rect(0, 0, 3000, 2000)) // red and nothing, by turns
	for y := range 2000 {
		for x := 0; x < 3000; x += 2 {
			striped.SetNRGBA(x, y, color.NRGBA{R: 0xff, A: 0xff})
		}
	}
	paletted := image.NewPaletted(image.Rect(0, 0, 1500, 100), color.Palette{color.Black, color.White})
	encoded := func(encode func(io.Writer) error) string {
		var out bytes.Buffer
		require.NoError(t, encode(&out))
		return out.String()
	}
	for name, c := range map[string]struct {
		picture string
		size    int
		want    image.Point
		color   color.RGBA // of its middle
	}{
		"much smaller":  {encoded(func(to io.Writer) error { return png.Encode(to, striped) }), 320, image.Pt(320, 213), color.RGBA{0xff, 0x7f, 0x7f, 0xff}},
		"1,024":         {encoded(func(to io.Writer) error { return png.Encode(to, striped) }), 1024, image.Pt(1024, 682), color.RGBA{0xff, 0x7f, 0x7f, 0xff}},
		"a bit smaller": {encoded(func(to io.Writer) error { return gif.Encode(to, paletted, nil) }), 1024, image.Pt(1024, 68), color.RGBA{0, 0, 0, 0xff}},
		"as it was":     {encoded(func(to io.Writer) error { return png.Encode(to, image.NewGray(image.Rect(0, 0, 9, 8))) }), 320, image.Pt(9, 8), color.RGBA{0, 0, 0, 0xff}},
		"one long row":  {string(pngOf(1, 16_384, 8, 0, 0, make([]byte, 2*16_384))), 1024, image.Pt(1, 1024), color.RGBA{0, 0, 0, 0xff}},
	} {
		a := d.add(t, owner, c.picture)
		out, err := d.Preview(owner, a.ID, c.size)
		require.NoError(t, err, name)
		small, err := jpeg.Decode(bytes.NewReader(out))
		require.NoError(t, err, name)
		require.Equal(t, c.want, small.Bounds().Size(), name)
		r, g, b, _ := small.At(c.want.X/2, c.want.Y/2).RGBA()
		require.InDeltaSlice(t, []int{int(c.color.R), int(c.color.G), int(c.color.B)}, []int{int(r >> 8), int(g >> 8), int(b >> 8)}, 60, name)
	}
	long := d.add(t, owner, string(pngOf(1, 40_000_000, 8, 0, 0, nil)))
	require.Nil(t, long.Width)
	_, err := d.Preview(owner, long.ID, 320)
	refused(t, err, apperr.NotFound, "")
	_, err = d.Preview(owner, long.ID, 321)
	require.Equal(t, apperr.Validation, apperr.CodeOf(err))
}

// A caller who does not wait any longer ends the drawing, which says so and does not take the picture for a broken one.
func TestDrawingEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	d := newDesk(t, w, nil)
	a := d.add(t, d.as(principal.Owner), string(pngOf(600, 600, 8, 2, 0, make([]byte, 600*(1+3*600)))))
	ctx, cancel := context.WithCancelCause(d.as(principal.Owner))
	gone := errors.New("gone")
	d.Files = opened{d.Files, func(key string) {
		if key == a.StoredAs {
			cancel(gone)
		}
	}}
	_, err := d.Preview(ctx, a.ID, 320)
	require.ErrorIs(t, err, gone)
}

// opened is a store that says which files are opened.
type opened struct {
	files.Store
	says func(key string)
}

func (o opened) Open(ctx context.Context, key string) (files.Stored, error) {
	o.says(key)
	return o.Store.Open(ctx, key)
}
