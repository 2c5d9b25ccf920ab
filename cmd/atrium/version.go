package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set when a release is built.
var version = ""

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	v := version
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if v == "" {
		v = cmp.Or(info.Main.Version, "(devel)")
	}
	built := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			built = "commit " + s.Value[:min(12, len(s.Value))] + ", " + built
		}
	}
	fmt.Printf("atrium %s (%s)\n", v, built)
	return nil
}
