package pack

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Files are the packs that ship, in files/.
//
//go:embed files/*.yaml
var Files embed.FS

// ships is a pack that ships.
type ships struct {
	*file
	key string
}

// shipped reads the packs that ship, once, in the order of their keys.
var shipped = sync.OnceValues(func() ([]ships, error) {
	names, err := fs.Glob(Files, "files/*.yaml")
	if err != nil {
		return nil, err
	}
	out := make([]ships, len(names))
	for i, name := range names {
		source, err := Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := read(string(source))
		if err != nil {
			return nil, fmt.Errorf("read the pack %s: %w", name, err)
		}
		out[i] = ships{f, strings.TrimSuffix(path.Base(name), ".yaml")}
	}
	return out, nil
})

// shippedAs returns the pack of a key; nil where none has it.
func shippedAs(key string) (*file, error) {
	all, err := shipped()
	for _, p := range all {
		if p.key == key {
			return p.file, err
		}
	}
	return nil, err
}
