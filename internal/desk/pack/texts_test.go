package pack

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
)

// inserted is what a text has in every language: ${request.title}, {{requester.name}}.
var inserted = regexp.MustCompile(`\$\{[^}]*\}|\{\{[^}]*\}\}`)

// Whatever people read of the packs that ship is there in every language that ships.
func TestShippedTexts(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(embedded, "files/*.yaml")
	require.NoError(t, err)
	files, err := shipped()
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i, f := range files {
		require.Equal(t, strings.TrimSuffix(path.Base(names[i]), ".yaml"), f.key, "the key is the file's name")
		require.Equal(t, locale.Languages, f.languages, f.key)
		require.NotEmpty(t, f.description, f.key)
		for _, language := range locale.Languages[1:] {
			require.NotEmpty(t, f.texts[language], f.key)
			f.eachText(func(d, text string) {
				said, ok := f.texts[language][text]
				require.True(t, ok, "%s, %s: no %s text of %q", f.key, d, language, text)
				require.ElementsMatch(t, inserted.FindAllString(text, -1), inserted.FindAllString(said, -1), "%s: %q", f.key, text)
			})
		}
		for _, language := range locale.Languages {
			if err := f.check(t.Context(), f.edition(language, "UTC")); err != nil {
				require.NoError(t, err, "%s in %s: %s", f.key, language, apperr.Said(err))
			}
		}
	}
}

// eachText calls fn with each text that another language replaces.
func (f *file) eachText(fn func(document, text string)) {
	fn("Pack", f.name)
	fn("Pack", f.description)
	for _, d := range f.documents {
		d.body(edition{zone: "UTC", say: func(text string) string {
			fn(d.String(), text)
			return text
		}}, same)
	}
}
