import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Revision, SourceRequest } from "../../../src/model/mod.ts";
import { passesWebhookFilter } from "../../../src/config/mod.ts";
import { webhookRefusal } from "../../../src/plan/mod.ts";
import { parseInlineDeployments } from "../../fakes/inline_deployments.ts";

const source = { kind: "git", url: "https://h/a/b", name: "h/a/b" } as const;
const revisionAt = (reference: string): Revision => ({ source, reference, id: "1".repeat(40) });

/** What short names are upstream; a branch where nothing is said. */
const UPSTREAM: Readonly<Record<string, string>> = {
  "v1": "refs/tags/v1",
  "HEAD": "refs/heads/main",
};

interface Case {
  /** Reference of the webhook, and what it is in full. */
  readonly event: string;
  readonly full?: string;
  readonly deployment: Readonly<Record<string, unknown>>;
}

/** The reason a webhook is refused; `undefined` when it is let through. Counts questions to the remote. */
async function refusal({ event, full = event, deployment }: Case) {
  const [declared] = parseInlineDeployments([{ name: "shop", ...deployment }], "test");
  assert.ok(declared !== undefined);
  const request: SourceRequest = {
    kind: "git",
    url: source.url,
    reference: event,
    target: "",
    deployments: [],
  };
  const asked: string[] = [];
  const refused = await webhookRefusal(
    {
      request,
      revision: revisionAt(full),
      declared,
      passes: (filter) => Promise.resolve(passesWebhookFilter(filter, [event, full])),
    },
    (reference) => {
      asked.push(reference);
      return Promise.resolve(revisionAt(UPSTREAM[reference] ?? `refs/heads/${reference}`));
    },
  );
  return { plan: refused, asked };
}

describe("webhookRefusal() by the filter", () => {
  const cases: [string, string, boolean][] = [
    ["", "refs/heads/x", true],
    ["^main$", "refs/heads/main", true],
    ["^refs/heads/main$", "refs/heads/main", true],
    ["^main$", "refs/heads/maint", false],
    ["main", "refs/heads/domain", true],
    ["^v\\d+$", "refs/tags/v12", true],
    ["^refs/tags/", "refs/heads/v12", false],
    ["^refs/heads/", "refs/tags/v12", false],
    ["^refs/tags/", "refs/heads/refs/tags/v12", false],
    ["(?i)^MAIN$", "refs/heads/main", true],
    ["^(a+)+$", `refs/heads/${"a".repeat(200)}!`, false],
  ];
  for (const [filter, event, passes] of cases) {
    it(`${passes ? "lets" : "does not let"} ${event.slice(0, 30)} pass ${filter}`, async () => {
      const { plan } = await refusal({ event, deployment: { webhook_filter: filter } });
      if (passes) return assert.equal(plan, undefined);
      assert.deepEqual([plan?.reason, plan?.message], [
        "filter_mismatch",
        "deployment skipped, webhook filter did not match",
      ]);
    });
  }

  it("tries the full name of a reference that was delivered in short form", async () => {
    const webhook_filter = "^refs/heads/main$";
    const event = { event: "main", full: "refs/heads/main" };
    assert.equal((await refusal({ ...event, deployment: { webhook_filter } })).plan, undefined);
  });

  it("asks the remote nothing when the filter decides", async () => {
    const deployment = { webhook_filter: "^x$", reference: "other" };
    assert.deepEqual((await refusal({ event: "refs/heads/main", deployment })).asked, []);
  });
});

describe("webhookRefusal() by the reference a deployment follows", () => {
  const commit = "a".repeat(40);
  const cases: [string, string, boolean, readonly string[]][] = [
    ["refs/heads/main", "", true, []],
    ["refs/heads/main", "main", true, []],
    ["refs/heads/main", "refs/heads/main", true, []],
    ["refs/heads/main", "HEAD", true, ["HEAD"]],
    ["refs/heads/fix", "HEAD", false, ["HEAD"]],
    ["refs/heads/fix", "refs/heads/main", false, []],
    ["refs/heads/fix", "main", false, ["main"]],
    ["refs/heads/fix", "refs/tags/v1", true, []],
    ["refs/heads/fix", "v1", true, ["v1"]],
    ["refs/heads/fix", commit, true, []],
    ["refs/tags/v2", "main", false, ["main"]],
    ["refs/tags/v2", "refs/tags/v1", false, []],
    ["refs/tags/v2", "v1", false, ["v1"]],
    ["refs/tags/v2", commit, false, []],
    ["refs/tags/v2", "v2", true, []],
    ["refs/tags/v2", "", true, []],
  ];
  for (const [event, reference, passes, asked] of cases) {
    it(`${event} ${passes ? "concerns" : "does not concern"} ${reference.slice(0, 20) || "none"}`, async () => {
      const answer = await refusal({ event, deployment: { reference } });
      assert.deepEqual(answer.asked, asked);
      if (passes) return assert.equal(answer.plan, undefined);
      assert.equal(answer.plan?.reason, "filter_mismatch");
      const short = event.replace(/^refs\/\w+\//, "");
      const expected =
        `deployment skipped, shop follows ${reference} and the webhook is about ${short}`;
      assert.equal(answer.plan?.message, expected);
    });
  }

  it("says nothing about the reference of another repository", async () => {
    const deployment = { reference: "refs/heads/x", repository_url: "https://h/other" };
    assert.equal((await refusal({ event: "refs/heads/main", deployment })).plan, undefined);
  });
});
