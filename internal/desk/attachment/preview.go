package attachment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/draw"

	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/files"
)

// previewSizes are the sizes of previews: how many pixels the longer side has at most.
var previewSizes = []int{320, 1024}

func previewKey(key string, size int) string { return key + "." + strconv.Itoa(size) }

// originalKey returns the key of the file that a preview is of; of anything else the key itself.
func originalKey(key string) string {
	out, _, _ := strings.Cut(key, ".")
	return out
}

func companyOfKey(key string) string {
	out, _, _ := strings.Cut(key, "/")
	return out
}

// Preview returns a JPEG of a picture whose longer side has at most size pixels, 320 or 1024. It draws each once.
func (d *Depot) Preview(ctx context.Context, id string, size int) ([]byte, error) {
	if !slices.Contains(previewSizes, size) {
		return nil, apperr.InvalidField("size", "must be 320 or 1024")
	}
	to, _, err := op.Run(ctx, d.Engine, toGive, op.ByID{ID: id}, nil)
	if err != nil {
		return nil, err
	}
	if to.row.Width == nil {
		return nil, apperr.New(apperr.NotFound, "There is no preview of this file.")
	}
	out, err := d.preview(ctx, to, size)
	if err != nil {
		return nil, err
	}
	if err := d.taken(ctx, to.row, "attachment.previewed"); err != nil {
		return nil, fmt.Errorf("record the preview: %w", err)
	}
	return out, nil
}

// preview returns a preview that was drawn before, or draws it.
func (d *Depot) preview(ctx context.Context, to *receivable, size int) ([]byte, error) {
	key := previewKey(to.row.StoredAs, size)
	if out, err := d.drawn(ctx, key, to.key); err == nil || !errors.Is(err, files.ErrNotFound) {
		return out, unreadable(err)
	}
	leave, err := d.previews.Take(ctx, to.row.CompanyID)
	if err != nil {
		return nil, apperr.Busy(err)
	}
	defer leave()
	if out, err := d.drawn(ctx, key, to.key); err == nil {
		return out, nil // by whoever had the place before
	}
	out, err := d.draw(ctx, to, size)
	if err != nil {
		return nil, err
	}
	spooled, err := files.Spool(d.Spool, to.key, bytes.NewReader(out), int64(len(out)))
	if err == nil {
		defer spooled.Discard()
		err = d.Files.Put(ctx, key, spooled)
	}
	if err != nil {
		d.Log.WarnContext(ctx, "a preview was not kept", "error", err)
	}
	return out, nil
}

func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return apperr.Wrap(err, apperr.Unavailable, "The file cannot be read at the moment.")
}

// drawn reads a preview that was drawn before.
func (d *Depot) drawn(ctx context.Context, key string, k files.Key) ([]byte, error) {
	f, err := files.Open(ctx, d.Files, key, k)
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
	return out, errors.Join(err, f.Close())
}

// draw decodes a picture and draws it smaller. What cannot be decoded has no preview.
func (d *Depot) draw(ctx context.Context, to *receivable, size int) ([]byte, error) {
	f, err := files.Open(ctx, d.Files, to.row.StoredAs, to.key)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close() //nolint:errcheck // only read
	none := apperr.New(apperr.NotFound, "There is no preview of this file.")
	if w, _ := pixels(io.NewSectionReader(f, 0, min(f.Size, maxHead))); w == 0 { // whatever the row says: it may have been imported
		return nil, none
	}
	picture, _, err := image.Decode(within{ctx, io.NewSectionReader(f, 0, f.Size)})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("draw the preview: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, none
	}
	small, err := fit(ctx, picture, size)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, turned(small, orientationOf(io.NewSectionReader(f, 0, min(f.Size, maxHead)))), &jpeg.Options{Quality: 80}); err != nil {
		return nil, fmt.Errorf("draw the preview: %w", err)
	}
	return out.Bytes(), nil
}

// fit draws a picture on white, so that its longer side has at most size pixels.
func fit(ctx context.Context, picture image.Image, size int) (*image.RGBA, error) {
	w, h := picture.Bounds().Dx(), picture.Bounds().Dy()
	long := max(w, h)
	if long >= 2*size {
		return average(ctx, picture, max(1, w*size/long), max(1, h*size/long))
	}
	if long > size {
		w, h = max(1, w*size/long), max(1, h*size/long)
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.BiLinear.Scale(out, out.Bounds(), picture, picture.Bounds(), draw.Over, nil)
	return out, nil
}

// average draws a picture on white, w by h pixels, each the average of those that it stands for. draw.BiLinear would take 32 bytes for each
// row of a large picture and column of the small one.
func average(ctx context.Context, picture image.Image, w, h int) (*image.RGBA, error) {
	from, ok := picture.(image.RGBA64Image)
	if !ok {
		return nil, fmt.Errorf("draw the preview: a picture of %T", picture)
	}
	at, out := picture.Bounds(), image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("draw the preview: %w", context.Cause(ctx))
		}
		top, bottom := at.Min.Y+y*at.Dy()/h, at.Min.Y+(y+1)*at.Dy()/h
		for x := range w {
			out.SetRGBA(x, y, averageOf(from, image.Rect(at.Min.X+x*at.Dx()/w, top, at.Min.X+(x+1)*at.Dx()/w, bottom)))
		}
	}
	return out, nil
}

// averageOf returns the average color, on white, of a part of a picture.
func averageOf(from image.RGBA64Image, part image.Rectangle) color.RGBA {
	var r, g, b uint64
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			c := from.RGBA64At(x, y)
			white := 0xffff - uint64(c.A)
			r, g, b = r+uint64(c.R)+white, g+uint64(c.G)+white, b+uint64(c.B)+white
		}
	}
	n := uint64(part.Dx()) * uint64(part.Dy()) * 0x101
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 0xff}
}
