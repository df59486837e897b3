package inspector

// panelRoutes are the requests of the panels.
var panelRoutes = map[string]handler{}
