import assert from "node:assert/strict";
import { dirname } from "node:path";
import { after, before, describe, it } from "node:test";
import { type GitHttpServer, startGitHttpServer } from "../fakes/git_http_server.ts";
import { createWorld, IMAGE, type RunBody, type World } from "./world.ts";

const ENTRIES = 50;

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
    const before = new Set((await ended(world)).map((each) => each.job_id));
    await world.restart({ POLL_CONFIG: JSON.stringify(entries) });
    for (let turn = 0; turn < 3000; turn++) {
      const runs = (await ended(world)).filter((each) => !before.has(each.job_id));
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
      ["GET /remote.git/info/refs?service=git-upload-pack", "POST /remote.git/git-upload-pack"],
      "a service that has just started asks what the server can do, and then its question",
    );
    const settled = (each: RunBody) => each.status === "succeeded" || each.status === "skipped";
    assert.deepEqual(runs.filter((each) => !settled(each)), []);
  });
});

async function ended(world: World): Promise<RunBody[]> {
  const answer = await world.request("/v1/api/runs?limit=200");
  const runs = (await answer.json()).content as RunBody[];
  return runs.filter(({ status }) => status !== "accepted" && status !== "running");
}
