// An extension that throws what is no refusal, in the function that a request names: `urn:does:FUNCTION`, by its name in
// the interface.

function at(place, requested) {
  if (requested.includes(`urn:does:${place}`)) throw new Error("lost");
}

export const hooks = {
  declaration: () => ({ uri: "urn:test:lost", description: null, required: false, params: null }),

  activate(options, requested) {
    at("activate", requested);
    return { tag: "active", val: JSON.stringify(requested) };
  },

  handleRequest({ message, params }, activation) {
    at("handle-request", JSON.parse(activation));
    return { message, params, activation };
  },

  handleResponse({ payload }, activation) {
    at("handle-response", JSON.parse(activation));
    return { payload, activation };
  },
};
