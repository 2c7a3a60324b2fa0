import assert from "node:assert/strict";
import { env } from "node:process";
import { describe, it } from "node:test";
import type { Handler } from "../../../src/serve/mod.ts";
import { startHttpService, WEBHOOK_SECRET } from "../../contract/http_service.ts";
import {
  azurePush,
  bitbucketCloudPush,
  bitbucketServerPush,
  githubPush,
  gitlabPush,
  ociPush,
  type Sender,
  signed,
} from "../../fakes/webhook_requests.ts";
import { type Random, randomFrom } from "../../fakes/random.ts";

/** FUZZ_TIMES asks for fewer, or more of them: the usual run has a third. */
const ROUNDS = 4_000 * Number(env["FUZZ_TIMES"] ?? 3);

const SEEDS: readonly { sender: Sender; event: string; payload: unknown }[] = [
  { sender: "github", event: "push", payload: githubPush() },
  { sender: "gitea", event: "create", payload: githubPush({ ref: "v1", ref_type: "tag" }) },
  { sender: "gogs", event: "delete", payload: githubPush({ ref: "v1", ref_type: "tag" }) },
  { sender: "forgejo", event: "push", payload: githubPush({ ref: "refs/tags/v1" }) },
  { sender: "gitlab", event: "Push Hook", payload: gitlabPush() },
  { sender: "gitlab", event: "System Hook", payload: gitlabPush() },
  { sender: "bitbucket", event: "repo:push", payload: bitbucketCloudPush() },
  { sender: "bitbucket", event: "repo:refs_changed", payload: bitbucketServerPush() },
  { sender: "azure", event: "", payload: azurePush() },
  { sender: "oci", event: "push", payload: ociPush() },
];

/** What takes the place of some value in a payload. */
const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  "",
  " ",
  "refs/heads/\u0000",
  "refs/heads/../../etc",
  "../../../etc/passwd",
  "/etc",
  "file:///etc",
  "./srv",
  "../srv",
  "https://a:b@h/%zz",
  "git@h:x",
  "ssh://-oProxyCommand=id/x",
  "\ud800",
  "x".repeat(5000),
  "0".repeat(40),
  [],
  {},
  [[[[]]]],
  [null, 1, "x", { ref: {} }],
  { toString: null, length: -1, constructor: { prototype: {} } },
];
const PIECES = [...'{}[]",:\\ \n0-e'].concat([
  "\u0000",
  "\ufffd",
  "null",
  '"__proto__":{"ref":1},',
  "[".repeat(3000),
  '"ref":"refs/heads/a",',
]);

/** The value with one member somewhere inside changed, removed or moved. */
function mutateStructure(value: unknown, random: Random): unknown {
  const members = value !== null && typeof value === "object" ? Object.keys(value) : [];
  const key = members[random(members.length + 1)];
  if (key === undefined || value === null || typeof value !== "object") {
    return VALUES[random(VALUES.length)];
  }
  const copy: Record<string, unknown> = { ...value };
  if (random(12) === 0) delete copy[key];
  else copy[key] = mutateStructure(copy[key], random);
  return Array.isArray(value) ? Object.values(copy) : copy;
}

function mutateText(text: string, random: Random): string {
  const at = random(text.length + 1);
  const length = random(20);
  const piece = PIECES[random(PIECES.length)] ?? "";
  return text.slice(0, at) + (random(3) === 0 ? "" : piece) + text.slice(at + length);
}

function mutated(payload: unknown, random: Random): string {
  let value = payload;
  for (let count = random(4); count > 0; count--) value = mutateStructure(value, random);
  const text = JSON.stringify(value) ?? "";
  return random(3) === 0 ? mutateText(text, random) : text;
}

describe("mutated webhooks", () => {
  it(`never crash and never answer 5xx: ${ROUNDS} of them, of every sender`, async () => {
    const service = await startHttpService();
    const { handler, log, runs } = service;
    const random = randomFrom(4711);
    const statuses = new Map<number, number>();
    for (let round = 0; round < ROUNDS; round++) {
      const { sender, event, payload } = SEEDS[round % SEEDS.length] ?? SEEDS[0]!;
      const body = mutated(payload, random);
      const isForged = random(8) === 0;
      const request = signed(sender, {
        event: random(20) === 0 ? mutateText(event, random).replace(/[^ -~]/g, "?") : event,
        payload: body,
        secret: isForged ? "another secret" : WEBHOOK_SECRET,
      });
      const before = log.lines.length;
      const path = random(30) === 0 ? "/v1/webhook/%2e%2e%2fx" : "/v1/webhook/edge";
      const { status, text } = await send(handler, path, request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      assert.ok(status < 500, `${status} for ${sender}: ${body.slice(0, 500)}`);
      assert.doesNotMatch(text, /canary|passwd/);
      if (isForged) {
        assert.ok(
          status === 401 || status === 413 || (body === "" && status === 400),
          `${status} for a forged one`,
        );
        assert.ok(log.lines.slice(before).every(({ level }) => level === "debug"));
      }
    }
    await service.stop();
    assert.deepEqual([...statuses.keys()].sort(), [202, 400, 401, 403, 413]);
    for (const [status, count] of statuses) {
      assert.ok(count > ROUNDS / 2_000, `${status} was hardly tried`);
    }
    assert.equal(runs.list({ limit: 1 }).length, 1);
    assert.ok(
      !JSON.stringify(log.lines.filter(({ level }) => level !== "debug")).includes("canary"),
    );
  });
});

async function send(
  handler: Handler,
  path: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
): Promise<{ readonly status: number; readonly text: string }> {
  const request = new Request(`http://localhost${path}`, { method: "POST", headers, body });
  const response = await handler(request, { remote: "127.0.0.1" });
  const text = await response.text();
  assert.equal(typeof JSON.parse(text), "object");
  return { status: response.status, text };
}
