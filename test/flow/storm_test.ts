import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { sendOnce } from "../fakes/send_once.ts";
import { githubPush, signed } from "../fakes/webhook_requests.ts";
import { composeFile, service } from "./compose_text.ts";
import { label } from "./steps.ts";
import { createWorld, type World } from "./world.ts";

const SECRET = "canary-of-the-storm";
const WEBHOOKS = 500;
const REPOSITORIES = 10;

/** Runs a test in a world that reaches ten repositories of one stack each. */
async function inStorm(
  test: (world: World, repositories: readonly FakeRepository[]) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-storm-"));
  try {
    const repositories: FakeRepository[] = [];
    for (let number = 0; number < REPOSITORIES; number++) {
      repositories.push(await createRepository(join(directory, `${number}`)));
    }
    const rewrites = repositories.map(({ url }, number) => [urlOf(number), url]);
    const env = {
      WEBHOOK_SECRET: SECRET,
      SOURCE_URL_REWRITES: JSON.stringify(Object.fromEntries(rewrites)),
    };
    // A run that takes longer than a minute lets the next one of its repository begin.
    const world = await createWorld({ engine: "fake", env, speed: 2 });
    try {
      await test(world, repositories);
    } finally {
      await world.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const nameOf = (number: number) => `acme/shop${number}`;
const urlOf = (number: number) => `https://git.example.org/${nameOf(number)}.git`;

async function push(world: World, repositories: readonly FakeRepository[], text: string) {
  await Promise.all(repositories.map((repository, number) =>
    repository.commit({
      ".stackwright.yaml": `name: ${world.stack}-${number}\n`,
      "compose.yaml": composeFile({ web: service({ labels: { "test.v": text } }) }),
    })
  ));
}

interface Answer {
  readonly status: number;
  readonly id: unknown;
}

async function announce({ app }: World, number: number): Promise<Answer> {
  const payload = githubPush({ name: nameOf(number) });
  const webhook = signed("github", { event: "push", payload, secret: SECRET });
  const { status, body } = await sendOnce(`${app.url}/v1/webhook`, webhook);
  return { status, id: body["job_id"] };
}

interface OpenRun {
  readonly status: string;
  readonly repository: string;
}

/** Watches the runs until all of them are over; returns the most that were open for one repository. */
async function watch(world: World): Promise<Record<"accepted" | "running", number>> {
  const most = { accepted: 0, running: 0 };
  for (;;) {
    let open = 0;
    for (const status of ["accepted", "running"] as const) {
      const answer = await world.request(`/v1/api/runs?limit=200&status=${status}`);
      const runs: readonly OpenRun[] = (await answer.json()).content;
      open += runs.length;
      for (const group of Map.groupBy(runs, ({ repository }) => repository).values()) {
        most[status] = Math.max(most[status], group.length);
      }
    }
    if (open === 0) return most;
    await setTimeout(20);
  }
}

describe("a storm of webhooks on the fake engine", () => {
  it("ends with the newest commit of every repository, by one run at a time for each", () =>
    inStorm(async (world, repositories) => {
      await push(world, repositories, "1");
      const numbers = Array.from({ length: WEBHOOKS }, (_, index) => index % REPOSITORIES);
      const first = await Promise.all(numbers.map((number) => announce(world, number)));
      const watched = watch(world);
      await push(world, repositories, "2");
      const last = await Promise.all(
        repositories.map((_repository, number) => announce(world, number)),
      );
      const most = [await watched, await watch(world)];

      const answers = [...first, ...last];
      assert.ok(answers.every(({ status, id }) => status === 202 && typeof id === "string"));
      // One that begins is still called accepted for a moment.
      assert.ok(most.every(({ accepted, running }) => accepted <= 2 && running <= 1));
      for (const number of repositories.keys()) {
        assert.equal(await label(world, "web", "test.v", `${world.stack}-${number}`), "2");
      }
      const runs = new Set(answers.map(({ id }) => id)).size;
      assert.ok(runs < WEBHOOKS / 5, `${runs} runs`);

      world.proxy.reset();
      await Promise.all(numbers.map((number) => announce(world, number)));
      await watch(world);
      assert.equal(world.proxy.mutations(), 0);
    }));
});
