package inspector

// timelineRoutes are the requests that move in time.
var timelineRoutes = map[string]handler{}

// openLogs adds the subjects that Config.Log and Config.Other name.
func (in *Inspector) openLogs() error { return nil }
