//go:build !linux

package password

// lowerPriority does nothing: on other systems, only whole processes have a priority.
func lowerPriority() {}
