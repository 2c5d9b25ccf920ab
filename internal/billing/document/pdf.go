package document

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"

	"atrium/internal/platform/locale"
)

// The page is A4. Lengths are in millimetres.
const (
	margin    = 20.0
	width     = 210 - 2*margin
	amountCol = 45.0
	lineHigh  = 6.0
	family    = "text"
)

// unknown replaces characters beyond U+FFFF, which the fonts lack and fpdf cannot write.
const unknown = '\uFFFD'

// printable replaces the characters of a text that cannot be written.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c > 0xFFFF {
			return unknown
		}
		return c
	}, text)
}

// printable returns the sheet without characters that cannot be written.
func (s sheet) printable() sheet {
	s.From, s.Lines = slices.Clone(s.From), slices.Clone(s.Lines)
	s.To = printable(s.To)
	for i := range s.From {
		s.From[i] = printable(s.From[i])
	}
	for i := range s.Lines {
		s.Lines[i][0] = printable(s.Lines[i][0])
	}
	return s
}

// CheckFont returns an error for a font that cannot be used for PDF files. fpdf embeds only single TrueType fonts (.ttf) and ignores
// others without an error, and it takes all characters of a text from one font.
func CheckFont(font []byte) error {
	if !bytes.HasPrefix(font, []byte{0, 1, 0, 0}) {
		return errors.New("not a TrueType font: collections (.ttc) and PostScript outlines (.otf) cannot be embedded")
	}
	f, err := sfnt.Parse(font)
	if err != nil {
		return fmt.Errorf("not a TrueType font: %w", err)
	}
	for c := '!'; c <= '~'; c++ {
		if glyph, err := f.GlyphIndex(nil, c); err != nil || glyph == 0 {
			return fmt.Errorf("the font has no %q: it must have the Latin letters and the digits too", c)
		}
	}
	return nil
}

// writePDF returns the sheet as a PDF, in the given font or else in the Go fonts. The same sheet and font give the same bytes.
func (s sheet) writePDF(font []byte) ([]byte, error) {
	s = s.printable()
	p := fpdf.New("P", "mm", "A4", "")
	p.SetCatalogSort(true)
	p.SetCreationDate(s.Made.UTC())
	p.SetModificationDate(s.Made.UTC())
	p.SetTitle(s.Title+" "+s.Number, true)
	regular, bold := goregular.TTF, gobold.TTF
	if font != nil {
		regular, bold = font, font
	}
	p.AddUTF8FontFromBytes(family, "", regular)
	p.AddUTF8FontFromBytes(family, "B", bold)
	p.SetMargins(margin, margin, margin)
	p.SetAutoPageBreak(true, margin)
	p.SetFooterFunc(func() {
		p.SetY(-15)
		p.SetFont(family, "", 8)
		p.CellFormat(0, lineHigh, s.in.T(locale.Say("%s %s, page %d", s.Title, s.Number, p.PageNo())), "", 0, "C", false, 0, "")
	})
	p.AddPage()

	p.SetFont(family, "", 9)
	for _, line := range s.From {
		p.CellFormat(0, 5, line, "", 1, "R", false, 0, "")
	}
	p.Ln(4)
	p.SetFont(family, "B", 20)
	p.CellFormat(0, 12, s.Title+" "+s.Number, "", 1, "L", false, 0, "")
	p.Ln(4)
	p.SetFont(family, "B", 11)
	p.MultiCell(width, lineHigh, s.To, "", "L", false)
	p.Ln(2)
	p.SetFont(family, "", 10)
	for _, f := range s.Facts {
		p.CellFormat(25, lineHigh, f[0], "", 0, "L", false, 0, "")
		p.CellFormat(0, lineHigh, f[1], "", 1, "L", false, 0, "")
	}
	p.Ln(6)

	p.SetFont(family, "B", 10)
	p.CellFormat(width-amountCol, 8, s.in.T(locale.Say("Description")), "B", 0, "L", false, 0, "")
	p.CellFormat(amountCol, 8, s.in.T(locale.Say("Amount")), "B", 1, "R", false, 0, "")
	p.SetFont(family, "", 10)
	for _, l := range s.Lines {
		page, y := p.PageNo(), p.GetY()
		p.MultiCell(width-amountCol, lineHigh, l[0], "", "L", false)
		if p.PageNo() != page {
			y = margin // the line continued on a new page: put its amount at the top of that page
		}
		end := p.GetY()
		p.SetXY(margin+width-amountCol, y)
		p.CellFormat(amountCol, lineHigh, l[1], "", 0, "R", false, 0, "")
		p.SetXY(margin, end)
	}
	p.Ln(2)
	for i, l := range s.Totals {
		border := ""
		if i == len(s.Totals)-1 {
			p.SetFont(family, "B", 11)
			border = "T"
		}
		p.CellFormat(width-amountCol, 8, l[0], border, 0, "R", false, 0, "")
		p.CellFormat(amountCol, 8, l[1], border, 1, "R", false, 0, "")
	}
	var out bytes.Buffer
	if err := p.Output(&out); err != nil {
		return nil, fmt.Errorf("write the PDF: %w", err)
	}
	return out.Bytes(), nil
}
