package paging_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// What somebody writes into a list's search finds rows that have every word, in any order and in any of the texts, also as a part of a
// word, without case and accents. Quoted words stand side by side, and -word leaves out. No character is a wildcard.
func TestWords(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		for name, about := range map[string]string{"Laptop repair": "100 % of all screens", "Café printer": "Near the laptop pool", "C++ licences": "", "印刷機": "ΟΔΟΣ"} {
			testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: name, Description: &about})
		}
		for q, want := range map[string][]string{
			"laptop": {"Café printer", "Laptop repair"}, "REPAIR lap": {"Laptop repair"}, "pool cafe": {"Café printer"}, "top": {"Café printer", "Laptop repair"},
			`"laptop pool"`: {"Café printer"}, `"pool laptop"`: {}, "laptop -pool": {"Laptop repair"}, `laptop -"laptop pool"`: {"Laptop repair"},
			"c++": {"C++ licences"}, "%": {"Laptop repair"}, "刷機": {"印刷機"}, "οδος": {"印刷機"}, `"laptop`: {"Café printer", "Laptop repair"}, "laptop printer repair": {}, "_": {},
		} {
			found := []string{}
			for _, s := range testkit.Run(t, w, owner, catalog.ListServices, catalog.ListServicesInput{Q: q, Page: paging.Page{Size: 10, Sort: "name"}}).Rows {
				found = append(found, s.Name)
			}
			require.ElementsMatch(t, want, found, q)
		}
	})
}
