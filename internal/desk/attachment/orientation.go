package attachment

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"io"
)

// upright is the orientation of a picture that is stored as it is seen.
const upright = 1

// orientationOf returns how a JPEG is turned, as its camera wrote into its Exif: 1 to 8, of which 1 is upright. It is that for whatever says
// nothing, or nothing that is understood.
func orientationOf(from io.Reader) int {
	r := bufio.NewReader(from)
	if start, err := r.Peek(2); err != nil || !bytes.Equal(start, []byte{0xff, 0xd8}) {
		return upright
	}
	_, _ = r.Discard(2) // which were there
	for {
		marker, body, err := segment(r)
		if err != nil || marker == 0xda { // the picture begins
			return upright
		}
		if marker != 0xe1 {
			if _, err := r.Discard(body); err != nil {
				return upright
			}
			continue
		}
		app := make([]byte, body)
		if _, err := io.ReadFull(r, app); err != nil {
			return upright
		}
		if tiff, ok := bytes.CutPrefix(app, []byte("Exif\x00\x00")); ok {
			return orientationIn(tiff)
		}
	}
}

// orientationIn returns the orientation that the first directory of a TIFF says.
func orientationIn(tiff []byte) int {
	const tag, entry = 0x0112, 12 // bytes
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(tiff, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(tiff) < 8 {
		return upright
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return upright
	}
	entries := tiff[at+2:]
	for n := order.Uint16(tiff[at:]); n > 0 && len(entries) >= entry; n-- {
		if order.Uint16(entries) == tag {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return upright
		}
		entries = entries[entry:]
	}
	return upright
}

// turned returns a picture of an orientation as it is seen.
func turned(picture *image.RGBA, orientation int) *image.RGBA {
	if orientation == upright {
		return picture
	}
	w, h := picture.Bounds().Dx(), picture.Bounds().Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 { // on its side
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			toX, toY := x, y
			if orientation == 2 || orientation == 3 || orientation >= 7 { // left and right change places
				toX = w - 1 - x
			}
			if orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7 { // top and bottom
				toY = h - 1 - y
			}
			if orientation >= 5 {
				toX, toY = toY, toX
			}
			out.SetRGBA(toX, toY, picture.RGBAAt(x, y))
		}
	}
	return out
}
