package attachment_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// exif returns a segment of a JPEG that says how the picture is turned, in an order of bytes.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	mark := "MM"
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		mark = "II"
	}
	tiff := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
	tiff = order.AppendUint16(tiff, 2) // entries: another one, and the orientation
	for _, e := range [][2]uint16{{0x010f, 1}, {0x0112, orientation}} {
		tiff = order.AppendUint16(order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, e[0]), 3), 1), e[1])
		tiff = append(tiff, 0, 0)
	}
	body := append([]byte("Exif\x00\x00"), tiff...)
	return append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2)), body...)
}

// A telephone stores a photograph as its sensor has it, and how it was held beside it. Previews are upright.
func TestPreviewsAreUpright(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	d := newDesk(t, w, nil)
	owner := d.as(principal.Owner)
	stored := image.NewRGBA(image.Rect(0, 0, 64, 32)) // its left half is red, the other one blue
	for y := range 32 {
		for x := range 64 {
			stored.SetRGBA(x, y, map[bool]color.RGBA{true: {R: 0xff, A: 0xff}, false: {B: 0xff, A: 0xff}}[x < 32])
		}
	}
	var plain bytes.Buffer
	require.NoError(t, jpeg.Encode(&plain, stored, nil))
	with := func(segments ...byte) string {
		return string(plain.Bytes()[:2]) + string(segments) + string(plain.Bytes()[2:])
	}
	lying, standing := image.Pt(64, 32), image.Pt(32, 64)
	for name, c := range map[string]struct {
		picture string
		size    image.Point
		red     image.Point // where it is red, and blue on the other side
	}{
		"says nothing":     {plain.String(), lying, image.Pt(8, 16)},
		"upright":          {with(exif(binary.BigEndian, 1)...), lying, image.Pt(8, 16)},
		"mirrored":         {with(exif(binary.BigEndian, 2)...), lying, image.Pt(56, 16)},
		"upside down":      {with(exif(binary.LittleEndian, 3)...), lying, image.Pt(56, 16)},
		"flipped":          {with(exif(binary.BigEndian, 4)...), lying, image.Pt(8, 16)},
		"transposed":       {with(exif(binary.BigEndian, 5)...), standing, image.Pt(16, 8)},
		"on its right":     {with(exif(binary.LittleEndian, 6)...), standing, image.Pt(16, 8)},
		"transverse":       {with(exif(binary.BigEndian, 7)...), standing, image.Pt(16, 56)},
		"on its left":      {with(exif(binary.BigEndian, 8)...), standing, image.Pt(16, 56)},
		"nonsense":         {with(exif(binary.BigEndian, 9)...), lying, image.Pt(8, 16)},
		"a broken segment": {with(exif(binary.BigEndian, 6)[:20]...), lying, image.Pt(8, 16)},
	} {
		a := d.add(t, owner, c.picture)
		if a.Width == nil { // the broken one is no picture
			require.Equal(t, "a broken segment", name)
			continue
		}
		out, err := d.Preview(owner, a.ID, 320)
		require.NoError(t, err, name)
		small, err := jpeg.Decode(bytes.NewReader(out))
		require.NoError(t, err, name)
		require.Equal(t, c.size, small.Bounds().Size(), name)
		red, _, blue, _ := small.At(c.red.X, c.red.Y).RGBA()
		require.Greater(t, red, blue, name)
		red, _, blue, _ = small.At(c.size.X-1-c.red.X, c.size.Y-1-c.red.Y).RGBA()
		require.Greater(t, blue, red, name)
	}
}
