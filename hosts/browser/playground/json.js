// Where things stand in a JSON text: places by path, and what is which for colouring.

const TOKEN = /\s+|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/y;

/** The tokens of a text, as far as it is JSON: `{start, end, text}`, without white space. */
export function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  for (let start = 0; start < text.length; start = TOKEN.lastIndex) {
    TOKEN.lastIndex = start;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) break;
    if (token.trim() !== "") found.push({ start, end: TOKEN.lastIndex, text: token });
  }
  return found;
}

/** The steps of a path such as `message.metadata[https://…/v1].writes[1]`. */
export function steps(path) {
  const found = [];
  for (const [, member, inBrackets] of path.matchAll(/\.?([^.[\]]+)|\[([^\]]*)\]/g)) {
    if (member !== undefined) found.push(member);
    else found.push(/^\d+$/.test(inBrackets) ? Number(inBrackets) : inBrackets);
  }
  return found;
}

/**
 * Where the value stands that the steps lead to: `{start, end}` in the text. When nothing stands there, the member or
 * value that leads furthest; the whole where the text is no JSON.
 */
export function locate(text, path) {
  const all = tokens(text);
  let at = 0;
  const range = (from, to) => ({ start: all[from]?.start ?? 0, end: all[to - 1]?.end ?? text.length });

  // The index of the token behind the value that begins at `from`.
  function behind(from) {
    let depth = 0;
    for (let index = from; index < all.length; index++) {
      const token = all[index].text;
      if (token === "{" || token === "[") depth++;
      if (token === "}" || token === "]") depth--;
      if (depth <= 0) return index + 1;
    }
    return all.length;
  }

  for (const step of path) {
    const open = all[at]?.text;
    let next = at + 1;
    let found;
    if (open === "{" && typeof step === "string") {
      while (next < all.length && all[next].text !== "}") {
        const name = all[next].text;
        const value = next + 2;
        if (name.startsWith('"') && JSON.parse(name) === step) found = value;
        next = behind(value);
        if (all[next]?.text === ",") next++;
      }
    } else if (open === "[" && typeof step === "number") {
      for (let index = 0; next < all.length && all[next].text !== "]"; index++) {
        if (index === step) found = next;
        next = behind(next);
        if (all[next]?.text === ",") next++;
      }
    }
    if (found === undefined || found >= all.length) return opening(at);
    at = found;
  }
  return range(at, behind(at));

  // What is missing is marked where it should be: at the brace that opens its object, or at the whole of a scalar.
  function opening(index) {
    const whole = range(index, behind(index));
    return /^[{[]/.test(all[index]?.text ?? "") ? { start: whole.start, end: whole.start + 1 } : whole;
  }
}

/** The token that a parser's message names by line and column, or the last before that; undefined where it names none. */
export function placeOf(message, text) {
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  if (line === undefined) return undefined;
  const before = text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  const at = before + Math.max(0, Number(column) - 1);
  const token = tokens(text).findLast(({ start }) => start <= at);
  // Where no token reaches, the text is no JSON any more.
  if (token === undefined || (at >= token.end && text.slice(token.end, at + 1).trim() !== "")) {
    return { start: Math.min(at, Math.max(0, text.length - 1)), end: Math.min(at + 1, text.length) };
  }
  return { start: token.start, end: token.end };
}

/** The kind of each token, for colouring: `key`, `string`, `number`, `word` or `mark`. */
export function coloured(text) {
  const all = tokens(text);
  return all.map((token, index) => {
    const first = token.text[0];
    const kind =
      first === '"' ? (all[index + 1]?.text === ":" ? "key" : "string")
      : /[-\d]/.test(first) ? "number"
      : /[a-z]/.test(first) ? "word"
      : "mark";
    return { ...token, kind };
  });
}
