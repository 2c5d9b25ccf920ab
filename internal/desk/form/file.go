package form

import (
	"context"
	"fmt"

	"atrium/internal/platform/id"
)

// Attached is a file that an answer names, as its lookup knows it.
type Attached struct {
	Name, MediaType string
	Fault           string // a sentence why the file cannot be an answer; empty if it can
	Any             bool   // it stands for a file of any kind
}

// FileLookup returns what is known of files by their ids.
type FileLookup func(ctx context.Context, ids []string) (existing map[string]Attached, err error)

// NoFiles is a lookup where no answer may name files, for the reason that it gives.
func NoFiles(because string) FileLookup { return allFiles(Attached{Fault: because}) }

// AnyFiles is a lookup for trials, which takes every id for a file of any kind.
func AnyFiles() FileLookup { return allFiles(Attached{Any: true}) }

func allFiles(is Attached) FileLookup {
	return func(_ context.Context, ids []string) (map[string]Attached, error) {
		out := make(map[string]Attached, len(ids))
		for _, one := range ids {
			out[one] = is
		}
		return out, nil
	}
}

// FileAnswer is the answer to a question for files.
type FileAnswer struct {
	Key string
	IDs []string
}

// Files returns the answers to the form's questions for files, in form order. Answers that Validate refuses are left out or cut short.
func (form *Form) Files(values map[string]any) []FileAnswer {
	var out []FileAnswer
	for i := range form.fields {
		f := &form.fields[i]
		if ids := f.fileIDs(values[f.key]); len(ids) > 0 {
			out = append(out, FileAnswer{f.key, ids})
		}
	}
	return out
}

// AsksForFiles reports whether the field with a key is a question for files.
func (form *Form) AsksForFiles(key string) bool {
	i, known := form.byKey[key]
	return known && form.fields[i].kind == File
}

// fileIDs returns the ids that an answer names; none of a faulty one, or of a field of another type.
func (f *field) fileIDs(v any) (out []string) {
	if f.kind != File || f.fault(v) != "" {
		return nil
	}
	ids, _ := list(v)
	for _, one := range ids {
		if s, ok := one.(string); ok && id.Valid("att", s) {
			out = append(out, s)
		}
	}
	return out
}

// filesFault returns why a value is no list of as many files as the field takes, or "". It does not look at the files.
func (f *field) filesFault(v any) string {
	switch ids, ok := list(v); {
	case !ok:
		return "Must be a list of the ids of files."
	case float64(len(ids)) > f.max:
		return "Must name at most " + counted(f.max, "file") + "."
	}
	return ""
}

// refuseFiles adds a detail for each file of an answer that the field does not take.
func (f *field) refuseFiles(out *details, v any, known map[string]Attached) {
	ids, _ := list(v)
	seen := map[string]bool{}
	for i, one := range ids {
		s, _ := one.(string)
		file, found := known[s]
		fault := file.Fault
		switch {
		case !id.Valid("att", s):
			fault = "Must be the id of a file."
		case seen[s]:
			fault = "Must not be named twice."
		case fault == "" && !found:
			fault = "There is no such file."
		case fault == "" && !f.takes(file):
			fault = f.refuses()
		}
		if seen[s] = true; fault != "" {
			out.add(fmt.Sprintf("%s[%d]", f.name, i), "%s", fault)
		}
	}
}
