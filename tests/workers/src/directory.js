// Workers KV as the runtime speaks to it, in the moods that a test asks for. Every call is one line of the log.

const entries = new Map();

export default {
  async fetch(request, env) {
    const key = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const value = request.method === "PUT" ? await request.text() : undefined;
    console.log(JSON.stringify({ event: "kv", method: request.method, key, value }));
    if (env.MODE === "silent") await new Promise((answer) => setTimeout(answer, 60_000));
    if (env.MODE === "failing") return new Response("no", { status: 500 });
    if (value !== undefined) {
      entries.set(key, value);
      return new Response();
    }
    // What was there before anything was written.
    const old = env.OLD[key];
    const known = env.MODE === "lavish" ? "{}" : env.MODE === "stale" ? old : (entries.get(key) ?? old);
    return known === undefined ? new Response(null, { status: 404 }) : new Response(known);
  },
};
