package workflow

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
)

// DiffVersions returns the differences between two published versions of a workflow, or between one and the draft. The right
// to read the workflow suffices.
var DiffVersions = op.OnRow("workflow.diff", op.Spec{
	Resource: "Workflow", Action: op.Read, Scope: "workflows:read",
	Summary: "Compare two published versions of a workflow, or the draft with one",
}, loadWorkflow, diffVersions)

// Draft names the draft where a version is compared; it has the number that it gets when it is published.
const Draft = "draft"

// DiffVersionsInput names two versions.
type DiffVersionsInput struct {
	op.ByID
	Version string `json:"-" path:"version" maxLength:"10" doc:"The version's number, counted from 1; draft for what would be published now."`
	From    int    `json:"-" query:"from" minimum:"1" doc:"The version to compare with; the one before when not given."`
}

// VersionDiff holds the differences between two versions; From is 0 if no version was published before.
type VersionDiff struct {
	From, To int
	Changes  []definition.Change
}

// diffVersions returns not_found if the version in the path does not exist, and validation_error if the version in
// from does not.
func diffVersions(ctx context.Context, tx *op.Tx, w *ent.Workflow, in DiffVersionsInput) (VersionDiff, error) {
	to := &ent.WorkflowVersion{Version: w.Version + 1, Definition: w.Definition}
	if in.Version != Draft {
		var err error
		if to, err = getVersion(ctx, tx, w, GetVersionInput{ByID: in.ByID, Version: in.Version}); err != nil {
			return VersionDiff{}, err
		}
	}
	out := VersionDiff{From: cmp.Or(in.From, to.Version-1), To: to.Version}
	before := []byte(`{}`)
	if out.From > 0 {
		from, err := getVersion(ctx, tx, w, GetVersionInput{ByID: in.ByID, Version: strconv.Itoa(out.From)})
		if apperr.CodeOf(err) == apperr.NotFound {
			return VersionDiff{}, apperr.InvalidField("from", "There is no such version.")
		}
		if err != nil {
			return VersionDiff{}, err
		}
		before = AsSent(from.Definition)
	}
	var err error
	if out.Changes, err = definition.Diff(before, AsSent(to.Definition)); err != nil {
		return VersionDiff{}, fmt.Errorf("compare the versions: %w", err)
	}
	return out, nil
}
