// mask/v1: what should stay with the client is masked before the agent sees it, and answers tell how often.
//
// The option `patterns` says what that is: regular expressions, each under the name that is put in its place. E-mail
// addresses unless it is given. The names are told on the card, the expressions are not.
//
// Build it with `npm run build -- --js mask.js --output mask.wasm`, and load it with
// `a2a-edge serve --extension mask.wasm=mask.json`.

/** Identifies the extension; a name, not an address. */
const URI = "urn:example:extensions/mask/v1";

/** What is masked unless the options say otherwise. */
const EMAIL = { email: "[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+" };

/** Each match, by code points. */
const FLAGS = "gu";

// The functions of the interface, by its names in JavaScript. `none` is null, `some` the value itself; what the interface
// calls an error is thrown as a plain object. Anything else that is thrown is a trap, and fails the request.
export const hooks = {
  declaration(options) {
    const masked = Object.keys(patterns(options));
    return {
      uri: URI,
      description: "What should stay with the client is masked before the agent sees it.",
      required: false,
      params: JSON.stringify({ masked }),
    };
  },

  /** Takes part where there is a message, and keeps for the calls to come what is masked, and how often it was. */
  activate(options, requested, context) {
    if (!["SendMessage", "SendStreamingMessage"].includes(context.method)) return { tag: "skip" };
    return { tag: "active", val: JSON.stringify({ patterns: patterns(options), counts: {} }) };
  },

  /** Masks the text and the data of every part, and refuses files: what they hold is not known. */
  handleRequest(request, activation) {
    const { patterns, counts } = JSON.parse(activation);
    const message = JSON.parse(request.message);
    for (const [index, part] of message.parts.entries()) {
      if ("raw" in part || "url" in part) throw refusal(`message.parts[${index}]`, "expected text or data, not a file");
      if ("text" in part) part.text = masked(part.text, patterns, counts);
      if ("data" in part) part.data = masked(part.data, patterns, counts);
    }
    return {
      message: JSON.stringify(message),
      params: request.params,
      activation: JSON.stringify({ patterns, counts }),
    };
  },

  /** Tells under the URI how often each was masked. */
  handleResponse(response, activation) {
    const payload = JSON.parse(response.payload);
    payload.metadata = { ...payload.metadata, [URI]: { masked: JSON.parse(activation).counts } };
    return { payload: JSON.stringify(payload), activation };
  },
};

/** The expressions under their names. */
function patterns(options) {
  if (options === null) return EMAIL;
  const given = JSON.parse(options);
  if (!isObject(given)) throw fault("", "expected an object");
  const unknown = Object.keys(given).find((option) => option !== "patterns");
  if (unknown !== undefined) throw fault(unknown, "expected patterns");
  if (!isObject(given.patterns)) throw fault("patterns", "expected an object of regular expressions");
  for (const [name, pattern] of Object.entries(given.patterns)) {
    if (!isExpression(pattern)) throw fault(`patterns.${name}`, "expected a regular expression");
  }
  return given.patterns;
}

/** A value with its strings masked at any depth; the names of members stay as they are. */
function masked(value, patterns, counts) {
  if (typeof value === "string") {
    return Object.entries(patterns).reduce((text, [name, pattern]) => {
      return text.replace(new RegExp(pattern, FLAGS), () => {
        counts[name] = (counts[name] ?? 0) + 1;
        return `[${name}]`;
      });
    }, value);
  }
  if (Array.isArray(value)) return value.map((item) => masked(item, patterns, counts));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item, patterns, counts)]));
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isExpression(value) {
  try {
    return typeof value === "string" && new RegExp(value, FLAGS) !== null;
  } catch {
    return false;
  }
}

function fault(name, rule) {
  return { name, rule };
}

function refusal(field, description) {
  return { code: "invalid-argument", message: `${field}: ${description}`, violations: [{ field, description }] };
}
