import assert from "node:assert/strict";
import { dirname } from "node:path";
import { after, before, describe, it } from "node:test";
import { type GitHttpServer, startGitHttpServer } from "../fakes/git_http_server.ts";
import { createWorld, IMAGE, type RunBody, type World } from "./world.ts";

const ENTRIES = 50;
const [CAPABILITIES, QUESTION] = [
  "GET /remote.git/info/refs?service=git-upload-pack",
  "POST /remote.git/git-upload-pack",
];
const ONE_QUESTION = [CAPABILITIES, QUESTION];

describe("50 poll entries of one repository", () => {
  let world: World;
  let server: GitHttpServer;
  before(async () => {
    world = await createWorld({ engine: "fake" });
    server = await startGitHttpServer({ root: dirname(world.repository.path) });
    await world.repository.commit({
      ".stackwright.yaml": `name: ${world.stack}\n`,
      "compose.yaml": `services: {web: {image: ${IMAGE}}}\n`,
    });
  });
  after(async () => {
    await world.close();
    await server.close();
  });

  /** Starts the service with poll entries of these references, and waits until all were polled. */
  async function poll(references: readonly string[]): Promise<RunBody[]> {
    const url = `${server.origin}/remote.git`;
    const entries = references.map((reference) => ({ url, reference, run_once: true }));
    const started = new Date();
    await world.restart({ POLL_CONFIG: JSON.stringify(entries) });
    for (let turn = 0; turn < 3000; turn++) {
      const runs = (await ended(world)).filter((each) => new Date(each.created_at) >= started);
      if (runs.length === references.length) return runs;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error("not all entries were polled");
  }

  it("ask the remote once, with whatever references, and each has a run of its own", async () => {
    const [first] = await poll(["main"]);
    assert.equal(first?.status, "succeeded", JSON.stringify(first));
    server.seen.length = 0;
    const names = ["main", "refs/heads/main", "HEAD"];
    const runs = await poll(
      Array.from({ length: ENTRIES }, (_, index) => `${names[index % names.length]}`),
    );
    assert.deepEqual(
      server.seen.map(({ method, url }) => `${method} ${url}`),
      ONE_QUESTION,
      "a service that has just started asks what the server can do, and then its question",
    );
    const settled = (each: RunBody) => each.status === "succeeded" || each.status === "skipped";
    assert.deepEqual(runs.filter((each) => !settled(each)), []);
  });

  it("ask once for all references that deployments name, where an entry or a round before did", async () => {
    const { stack, repository } = world;
    const own = ["a", "b", "c"].map((each) => `name: ${stack}-${each}\nreference: release\n`);
    await repository.commit({
      ".stackwright.yaml": [`name: ${stack}\n`, ...own].join("---\n"),
      "compose.yaml": `services: {web: {image: ${IMAGE}}}\n`,
    });
    await repository.branch("release");
    await poll(["main"]);
    server.seen.length = 0;
    const [alone] = await poll(["main"]);
    const seen = () => server.seen.map(({ method, url }) => `${method} ${url}`);
    assert.deepEqual(seen(), [...ONE_QUESTION, QUESTION], JSON.stringify(alone));
    server.seen.length = 0;
    await poll(["main", "release"]);
    assert.deepEqual(seen(), ONE_QUESTION);
  });
});

/** A run that is over. */
interface Ended extends RunBody {
  readonly created_at: string;
}

async function ended(world: World): Promise<Ended[]> {
  const answer = await world.request("/v1/api/runs?limit=200");
  const runs = (await answer.json()).content as Ended[];
  return runs.filter(({ status }) => !["accepted", "pending", "running"].includes(status));
}
