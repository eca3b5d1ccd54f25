// Requests to the server that sent this page. The token is part of the address, and so of every
// relative one.

const page = Array.from(crypto.getRandomValues(new Uint8Array(8)), (x) => x.toString(16)).join("");

export class Refused extends Error {
  constructor(facts, status) {
    super(facts.message);
    this.facts = facts;
    this.superseded = status === 409;
  }
}

async function post(name, body, signal) {
  const reply = await fetch(name, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ page, ...body }),
    signal,
  });
  if (!reply.ok) throw new Refused((await reply.json()).error, reply.status);
  return reply;
}

// A packet: its head, with the arrays by name; see packets.py. `head.came` says when.
export async function packet(name, body, signal) {
  const buffer = await (await post(name, body, signal)).arrayBuffer();
  const came = performance.now();
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let start = 4 + length;
  const arrays = {};
  for (const [key, shape] of head.arrays) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[key] = new Float32Array(buffer, start, count);
    arrays[key].shape = shape;
    start += 4 * count;
  }
  head.arrays = arrays;
  if (head.error) throw new Refused(head.error, 422);
  head.came = came;
  return head;
}

// Lines of JSON as they come.
export async function* lines(name, body, signal) {
  const reader = (await post(name, body, signal)).body
    .pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const pieces = (rest + value).split("\n");
      rest = pieces.pop();
      for (const line of pieces) {
        const item = JSON.parse(line);
        if (item.error) throw new Refused(item.error, item.error.type === "SupersededError" ? 409 : 422);
        yield item;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
