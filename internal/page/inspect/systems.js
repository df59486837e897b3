function newSystemsPanel(root, source, app) { return { root, source, app, show() {}, hide() {}, refresh() {} }; }
