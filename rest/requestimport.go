package rest

import (
	"atrium/ent"
	"atrium/internal/desk/requestimport"
)

// ImportFault is what is wrong with a row of a table that is brought in.
type ImportFault struct {
	Row     int    `json:"row" doc:"The row as spreadsheets count, whose first row has the headings." example:"17"`
	Column  string `json:"column" doc:"The heading of the column; empty where the table has no such column." example:"Status"`
	Message string `json:"message" doc:"What is wrong." example:"Must be a time, such as 2026-11-28 14:05 or 2026-11-28T14:05:00Z."`
}

func requestImportFaultsOut(i *ent.RequestImport) []ImportFault {
	faults := requestimport.FaultsOf(i)
	out := make([]ImportFault, len(faults))
	for n, f := range faults {
		out[n] = ImportFault(*f)
	}
	return out
}
