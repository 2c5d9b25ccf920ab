package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set when a release is built.
var version = ""

type versionCmd struct{ jsonFlag }

// Run prints the version.
func (m versionCmd) Run() error {
	v := version
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if v == "" {
		v = cmp.Or(info.Main.Version, "(devel)")
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	built := runtime.Version() + " " + platform
	var commit *string // none in a build outside of a checkout
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = &s.Value
			built = "commit " + s.Value[:min(12, len(s.Value))] + ", " + built
		}
	}
	return m.print(map[string]any{"version": v, "commit": commit, "go": runtime.Version(), "platform": platform},
		fmt.Sprintf("atrium %s (%s)", v, built))
}
