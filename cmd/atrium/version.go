package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the build of a release.
var version = ""

// programVersion returns the version of the release, or else of the Go module.
func programVersion() string { return cmp.Or(version, buildInfo().Main.Version, "(devel)") }

func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

type versionCmd struct{ jsonFlag }

// Run prints the version.
func (m versionCmd) Run() error {
	v, info := programVersion(), buildInfo()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	built := runtime.Version() + " " + platform
	var commit *string // nil in a build outside of a git checkout
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = &s.Value
			built = "commit " + s.Value[:min(12, len(s.Value))] + ", " + built
		}
	}
	return m.print(map[string]any{"version": v, "commit": commit, "go": runtime.Version(), "platform": platform},
		fmt.Sprintf("atrium %s (%s)", v, built))
}
