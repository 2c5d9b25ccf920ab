package rest

import (
	"atrium/internal/desk/request"
)

// RequestReport holds the figures of the requests of a time.
type RequestReport struct {
	TimeZone string               `json:"timeZone" doc:"The zone of its days, by its IANA name." example:"Europe/Berlin"`
	Total    RequestFigures       `json:"total" doc:"Of the whole time."`
	Before   RequestFigures       `json:"before" doc:"Of the time of the same length before it."`
	Over     []RequestFiguresOf   `json:"over" doc:"Of each step of the time, in order, with those in which nothing happened. The first and the last may be cut off by the time."`
	Groups   []RequestFigureGroup `json:"groups" doc:"Told apart by each thing that by names, in that order."`
}

// RequestFigures are what a report says about some requests.
type RequestFigures struct {
	Filed            int      `json:"filed" example:"42"`
	Completed        int      `json:"completed" doc:"Those that were completed in the time, whenever they were filed." example:"40"`
	Cancelled        int      `json:"cancelled" doc:"Those that were cancelled in the time, whenever they were filed." example:"1"`
	Open             int      `json:"open" doc:"Those filed that are still open." example:"3"`
	Reopened         int      `json:"reopened" doc:"Those filed that were opened again." example:"1"`
	FirstResponseP50 *int     `json:"firstResponseP50" doc:"Within how many minutes half of those filed were accepted; null when none was." example:"25"`
	FirstResponseP90 *int     `json:"firstResponseP90" doc:"Within how many minutes nine tenths of them were." example:"180"`
	ResolutionP50    *int     `json:"resolutionP50" doc:"Within how many minutes half of those filed were completed; null when none was." example:"400"`
	ResolutionP90    *int     `json:"resolutionP90" doc:"Within how many minutes nine tenths of them were." example:"2880"`
	SLAMet           int      `json:"slaMet" doc:"Those filed that met their service level." example:"38"`
	SLAMissed        int      `json:"slaMissed" doc:"Those filed that missed it." example:"2"`
	Ratings          int      `json:"ratings" doc:"Those filed that their requesters have rated." example:"11"`
	Satisfaction     *float64 `json:"satisfaction" doc:"The mean of these ratings, from 1 to 5; null when there are none." example:"4.5"`
}

// RequestFiguresOf are the figures of a step of the time, or of requests that have something in common.
type RequestFiguresOf struct {
	Key     *string        `json:"key" doc:"The first day of the step as YYYY-MM-DD, or the id or the value that they have in common; null for none." example:"2026-03-02"`
	Figures RequestFigures `json:"figures"`
}

// RequestFigureGroup are figures of requests, told apart by one thing.
type RequestFigureGroup struct {
	By   string             `json:"by" enum:"service,offering,team,assignee,organization,priority" doc:"By what; organization is the one that the service belongs to." example:"priority"`
	Rows []RequestFiguresOf `json:"rows" doc:"At most 100, the most filed first."`
}

func requestReportOut(r *request.Reported) RequestReport {
	return RequestReport{
		TimeZone: r.TimeZone, Total: requestFiguresOut(r.Total), Before: requestFiguresOut(r.Before), Over: each(r.Over, requestFiguresOfOut),
		Groups: each(r.Groups, func(g *request.FigureGroup) RequestFigureGroup {
			return RequestFigureGroup{g.By, each(g.Rows, requestFiguresOfOut)}
		}),
	}
}

func requestFiguresOfOut(f *request.FiguresOf) RequestFiguresOf {
	return RequestFiguresOf{f.Key, requestFiguresOut(&f.Figures)}
}

func requestFiguresOut(f *request.Figures) RequestFigures {
	return RequestFigures{
		Filed: f.Filed, Completed: f.Completed, Cancelled: f.Cancelled, Open: f.Open, Reopened: f.Reopened,
		FirstResponseP50: f.FirstResponseP50, FirstResponseP90: f.FirstResponseP90, ResolutionP50: f.ResolutionP50, ResolutionP90: f.ResolutionP90,
		SLAMet: f.SLAMet, SLAMissed: f.SLAMissed, Ratings: f.Ratings, Satisfaction: f.Satisfaction,
	}
}
