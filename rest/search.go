package rest

import "atrium/internal/desk/finder"

// SearchResult is what a search found.
type SearchResult struct {
	Hits []SearchHit `json:"hits" doc:"The rows that were found, type by type."`
	More []string    `json:"more" enum:"Request,Service,Offering,Workflow,User,Team,Organization" doc:"The types of which there are more." example:"[\"Request\"]"`
}

// SearchHit is a row that was found.
type SearchHit struct {
	Type    string         `json:"type" enum:"Request,Service,Offering,Workflow,User,Team,Organization" doc:"What it is." example:"Request"`
	ID      string         `json:"id" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Title   string         `json:"title" doc:"Its title or name." example:"Laptop is slow"`
	Marks   []SearchMark   `json:"marks" doc:"Where the words stand in the title or name."`
	Status  *string        `json:"status" doc:"Null for what has none." example:"PENDING"`
	Number  *int           `json:"number" doc:"The number of a request; null for other types." example:"1042"`
	Excerpt *SearchExcerpt `json:"excerpt" doc:"What else of a request has the words; null when nothing has."`
}

// SearchExcerpt is a piece of a text of a request that has the words.
type SearchExcerpt struct {
	In    string       `json:"in" enum:"DESCRIPTION,ANSWERS,COMMENT,FILE" doc:"Which text it is of." example:"COMMENT"`
	Text  string       `json:"text" doc:"The piece, on one line; an ellipsis stands where the text goes on." example:"…and since Monday the laptop of Zoë is slow again…"`
	Marks []SearchMark `json:"marks" doc:"Where the words stand in it."`
}

// SearchMark is where a word stands in a text, in Unicode code points.
type SearchMark struct {
	Start int `json:"start" doc:"The first character of it." example:"23"`
	End   int `json:"end" doc:"The first character after it." example:"29"`
}

func searchOut(r *finder.Result) SearchResult {
	return SearchResult{Hits: each(r.Hits, searchHitOut), More: r.More}
}

func searchHitOut(h *finder.Hit) SearchHit {
	out := SearchHit{Type: h.Type, ID: h.ID, Title: h.Title, Marks: marksOut(h.Marks), Status: h.Status, Number: h.Number}
	if h.Text != nil {
		out.Excerpt = &SearchExcerpt{In: *h.In, Text: h.Text.Text, Marks: marksOut(h.Text.Marks)}
	}
	return out
}

func marksOut(marks []finder.Mark) []SearchMark {
	return each(marks, func(m finder.Mark) SearchMark { return SearchMark(m) })
}
