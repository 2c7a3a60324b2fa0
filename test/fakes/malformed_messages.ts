const VALUES = [
  "null",
  "[]",
  "{}",
  "-1",
  "1e999",
  '"\\u0000"',
  "true",
  '{"__proto__":{"a":1}}',
  "[".repeat(900) + "]".repeat(900),
];
const NAMES = ["constructor", "__proto__", "toString", "x"];
const MESSAGES = [
  { id: 1, method: "tools/list" },
  {
    id: 1,
    method: "tools/call",
    params: { name: "list_deployment_runs", arguments: { limit: 3 } },
  },
  {
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    },
  },
  { method: "notifications/cancelled", params: { requestId: 1 } },
].map((each) => JSON.stringify({ jsonrpc: "2.0", ...each }));

/** Messages for a tool server of which most are not what the protocol says; `seed` chooses them. */
export function* malformedMessages(seed: number, count: number): Generator<string> {
  let state = seed;
  const below = (most: number) => (state = (state * 48271) % 2147483647) % most;
  const oneOf = (words: readonly string[]) => words[below(words.length)] ?? "";
  for (let made = 0; made < count; made++) yield damaged(oneOf(MESSAGES), below, oneOf);
}

function damaged(
  text: string,
  below: (most: number) => number,
  oneOf: (words: readonly string[]) => string,
): string {
  const at = below(text.length);
  /** With what `pattern` finds somewhere replaced. */
  const replaced = (pattern: RegExp, by: string) => {
    const found = [...text.matchAll(pattern)];
    const match = found[below(found.length)];
    if (match === undefined) return text;
    return text.slice(0, match.index) + by + text.slice(match.index + match[0].length);
  };
  switch (below(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1);
    case 2:
      return replaced(/:("[^"]*"|\d+|\{[^{}]*\})/g, `:${oneOf(VALUES)}`);
    case 3:
      return replaced(/"\w+":/g, `${JSON.stringify(oneOf(NAMES))}:`);
    case 4:
      return `[${text},${text}]`;
    default:
      return oneOf(VALUES);
  }
}
