package form

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// accept is one kind of file that a field takes, in lower case: an ending of names (".pdf"), a media type ("application/pdf") or all media
// types of one kind ("image/*").
type accept string

var acceptShape = regexp.MustCompile(`\A(\.[a-z0-9][a-z0-9._+-]{0,31}|[a-z]{1,20}/(\*|[a-z0-9][a-z0-9.+-]{0,126}))\z`)

// byBytes are the media types that files have by their first bytes alone, as package files tells them.
var byBytes = strings.Fields(`
	text/plain application/octet-stream application/pdf application/postscript application/ogg application/zip application/x-gzip
	application/x-rar-compressed application/vnd.ms-fontobject application/wasm
	image/x-icon image/bmp image/gif image/webp image/png image/jpeg
	audio/basic audio/aiff audio/mpeg audio/midi audio/wave video/avi video/mp4 video/webm
	font/ttf font/otf font/collection font/woff font/woff2`)

// format is what the ending of a name says of a file.
type format struct {
	mediaType string
	bytes     string // the media type that such files have by their bytes, if it is another one
}

// byName are formats that bytes alone do not tell, or whose bytes give an ending the lie.
var byName = map[string]format{
	".pdf": {"application/pdf", ""}, ".zip": {"application/zip", ""}, ".gz": {"application/gzip", "application/x-gzip"},
	".png": {"image/png", ""}, ".jpg": {"image/jpeg", ""}, ".jpeg": {"image/jpeg", ""}, ".gif": {"image/gif", ""}, ".webp": {"image/webp", ""},
	".bmp": {"image/bmp", ""}, ".heic": {"image/heic", unknownBytes}, ".heif": {"image/heif", unknownBytes}, ".avif": {"image/avif", unknownBytes},
	".tif": {"image/tiff", unknownBytes}, ".tiff": {"image/tiff", unknownBytes}, ".svg": {"image/svg+xml", plainText},
	".docx": {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", zipped},
	".xlsx": {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", zipped},
	".pptx": {"application/vnd.openxmlformats-officedocument.presentationml.presentation", zipped},
	".odt":  {"application/vnd.oasis.opendocument.text", zipped}, ".ods": {"application/vnd.oasis.opendocument.spreadsheet", zipped},
	".odp": {"application/vnd.oasis.opendocument.presentation", zipped}, ".epub": {"application/epub+zip", zipped},
	".doc": {"application/msword", unknownBytes}, ".xls": {"application/vnd.ms-excel", unknownBytes},
	".ppt": {"application/vnd.ms-powerpoint", unknownBytes}, ".msg": {"application/vnd.ms-outlook", unknownBytes},
	".7z": {"application/x-7z-compressed", unknownBytes}, ".tar": {"application/x-tar", unknownBytes},
	".rtf": {"application/rtf", plainText}, ".csv": {"text/csv", plainText}, ".md": {"text/markdown", plainText}, ".json": {"application/json", plainText},
	".xml": {"application/xml", plainText}, ".html": {"text/html", plainText}, ".htm": {"text/html", plainText}, ".ics": {"text/calendar", plainText},
	".vcf": {"text/vcard", plainText}, ".eml": {"message/rfc822", plainText}, ".yaml": {"application/yaml", plainText}, ".yml": {"application/yaml", plainText},
	".mp3": {"audio/mpeg", ""}, ".wav": {"audio/wav", "audio/wave"}, ".ogg": {"audio/ogg", "application/ogg"}, ".m4a": {"audio/mp4", unknownBytes},
	".aac": {"audio/aac", unknownBytes}, ".flac": {"audio/flac", unknownBytes}, ".mp4": {"video/mp4", ""}, ".mov": {"video/quicktime", unknownBytes},
	".mkv": {"video/x-matroska", "video/webm"}, ".webm": {"video/webm", ""},
}

const (
	unknownBytes = "application/octet-stream"
	plainText    = "text/plain"
	zipped       = "application/zip"
)

// formatOf returns the format that a name's ending names; an empty one if it names none.
func formatOf(name string) format { return byName[name[max(0, strings.LastIndexByte(name, '.')):]] }

// takes reports whether a file is of this kind, by its bytes and its name in lower case. A file whose bytes are those of another format
// than its name says is not.
func (a accept) takes(name, mediaType string) bool {
	says := formatOf(name)
	is := cmp.Or(says.bytes, says.mediaType)
	fits := is == mediaType || mediaType == unknownBytes // which all formats may look like: an office's file with a password, or a film
	if strings.HasPrefix(string(a), ".") {
		return strings.HasSuffix(name, string(a)) && (is == "" || fits)
	}
	return a.has(mediaType) || is != "" && fits && a.has(says.mediaType)
}

// has reports whether the kind is a media type, or includes it.
func (a accept) has(mediaType string) bool {
	all, some := strings.CutSuffix(string(a), "*")
	return mediaType == string(a) || some && strings.HasPrefix(mediaType, all)
}

// possible reports whether any file may be of this kind.
func (a accept) possible() bool {
	if strings.HasPrefix(string(a), ".") || slices.ContainsFunc(byBytes, a.has) {
		return true
	}
	for _, f := range byName {
		if a.has(f.mediaType) {
			return true
		}
	}
	return false
}

// setFiles reads what a field of files takes.
func (f *field) setFiles(out *details, at string, def *Field) {
	if f.kind != File {
		const only = "Only fields of type file have this."
		if len(def.Accept) > 0 {
			out.add(at+".accept", only)
		}
		if def.MaxFiles != nil {
			out.add(at+".maxFiles", only)
		}
		return
	}
	f.max = 1
	if def.MaxFiles != nil {
		if f.max = float64(*def.MaxFiles); f.max < 1 || f.max > MaxFiles {
			out.add(at+".maxFiles", "Must be between 1 and %d.", MaxFiles)
		}
	}
	if len(def.Accept) > MaxAccept {
		out.add(at+".accept", "A field has at most %d kinds of files.", MaxAccept)
		return
	}
	for i, one := range def.Accept {
		here, a := fmt.Sprintf("%s.accept[%d]", at, i), accept(strings.ToLower(one))
		switch {
		case !acceptShape.MatchString(string(a)):
			out.add(here, "Must be an ending such as .pdf, a media type such as application/pdf, or image/* for all images.")
		case slices.Contains(f.accept, a):
			out.add(here, "Another kind of this field is the same.")
		case !a.possible():
			out.add(here, "Is no media type that files are recognized as: give the ending of their names, such as .dwg.")
		}
		f.accept = append(f.accept, a)
	}
}

// takes reports whether the field takes a file.
func (f *field) takes(file Attached) bool {
	if len(f.accept) == 0 || file.Any {
		return true
	}
	name := strings.ToLower(file.Name)
	return slices.ContainsFunc(f.accept, func(a accept) bool { return a.takes(name, file.MediaType) })
}

// refuses returns the sentence for a file of another kind than the field takes.
func (f *field) refuses() string {
	kinds := make([]string, len(f.accept))
	for i, a := range f.accept {
		kinds[i] = string(a)
	}
	return "Must be one of: " + strings.Join(kinds, ", ") + "."
}
