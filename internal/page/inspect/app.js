// app starts the page.
const app = {};
const source = newSource();
const view = newView(byId("world"), { onPick() {} });
theme(remembered("theme") ?? "auto", name => remember("theme", name));
window.evertickPage = { view, source, app };
