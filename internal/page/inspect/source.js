// newSource returns the connection of the page to what answers it.
function newSource() {
  return { get: async () => ({ status: 503 }), post: async () => ({ status: 503 }) };
}
