// Package catalog holds what a company offers: services, their offerings and the offerings' forms.
//
// Its operations are run by both doors. It never files requests: package request does, against what stands here.
package catalog
