package pack

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"

	"atrium/internal/platform/apperr"
)

// embedded are the packs that ship.
//
//go:embed files/*.yaml
var embedded embed.FS

// shipped reads the packs that ship, once, in the order of their keys.
var shipped = sync.OnceValues(func() ([]*file, error) {
	names, err := fs.Glob(embedded, "files/*.yaml")
	if err != nil {
		return nil, err
	}
	out := make([]*file, len(names))
	for i, name := range names {
		source, err := embedded.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if out[i], err = read(string(source)); err != nil {
			return nil, fmt.Errorf("read the pack %s: %s", name, apperr.Said(err))
		}
	}
	return out, nil
})

// shippedAs returns the pack of a key; nil where none has it.
func shippedAs(key string) (*file, error) {
	all, err := shipped()
	for _, f := range all {
		if f.key == key {
			return f, err
		}
	}
	return nil, err
}
