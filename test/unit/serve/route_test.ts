import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import type { OperationFacts } from "../../../src/api/mod.ts";
import { stackAsOwner } from "../../../src/system/mod.ts";
import { type Exchange, operationRoute } from "../../../src/serve/route.ts";
import { text } from "../../../src/serve/query.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const exchange: Exchange = {
  turn: () => undefined,
  params: { name: "shop" },
  query: new URLSearchParams("context=nas"),
  call: { signal: new AbortController().signal, log: createRecordingLog() },
  powers: new Set(),
  headers: new Headers(),
  readJson: () => Promise.resolve({}),
  readBytes: () => Promise.resolve(new Uint8Array()),
};

/** Whose words are masked in the answer of a route over an operation. */
async function aboutOf(
  facts: Pick<OperationFacts<unknown>, "id" | "tag">,
  field: string,
  call: () => Promise<unknown> = () => Promise.resolve({}),
): Promise<string | undefined> {
  const operation = {
    summary: "",
    power: "read" as const,
    input: z.object({}),
    output: z.unknown(),
    errors: [],
    ...facts,
    call,
  };
  const route = operationRoute("GET /v1/api/any/{name}", operation, {
    params: { name: field },
    query: { context: text },
  });
  return (await route.answer(exchange)).about;
}

describe("the answer of a route", () => {
  const shop = stackAsOwner({ context: "nas", name: "shop" });

  it("is about the project that is asked for, also when that fails", async () => {
    const fail = () => Promise.reject(new Error("no engine"));
    assert.equal(await aboutOf({ id: "getProject", tag: "Projects" }, "project_name"), shop);
    assert.equal(await aboutOf({ id: "getProject", tag: "Projects" }, "project_name", fail), shop);
  });

  it("is about the stack whose releases are compared", async () => {
    assert.equal(await aboutOf({ id: "diffReleases", tag: "Deployments" }, "name"), shop);
  });

  it("is about the stack that is planned, whose texts are made on request", async () => {
    assert.equal(await aboutOf({ id: "planDeployment", tag: "Deployments" }, "name"), shop);
  });

  it("is about no stack where all was masked when it was kept", async () => {
    assert.equal(await aboutOf({ id: "listRuns", tag: "Runs" }, "name"), undefined);
  });

  it("is about no stack where none is named", async () => {
    assert.equal(await aboutOf({ id: "health", tag: "Health" }, "other"), undefined);
  });
});
