import * as z from "zod";
import { plainModel } from "../config/mod.ts";
import {
  errors,
  type Release,
  shortId,
  type ShowDigest,
  type StackKey,
  stackKey,
} from "../model/mod.ts";
import type { RecordedRelease } from "../record/mod.ts";
import { createPauses } from "../system/mod.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { noRelease, stackInput, type StackParts } from "./stack_parts.ts";
import { splitLines, unifiedDiff } from "./unified_diff.ts";

const DEFAULT_DIFF_LINES = 1000;
/** Most lines of a page; greater limits count as this one. */
const MOST_DIFF_LINES = 5000;

const diffView = z.strictObject({
  equal: z.boolean(),
  diff: z.string().describe(
    "Lines of a unified diff of the masked models as their author would write them, and of the files and images beside them.",
  ),
  next: z.int().optional().describe("`after` of the next page, when there is one."),
});

const input = stackInput.extend({
  from: z.int().min(1).describe("Number of a release."),
  to: z.int().min(1).describe("Number of a release."),
  limit: z.int().min(1).default(DEFAULT_DIFF_LINES)
    .describe(`Lines of the page, at most ${MOST_DIFF_LINES}.`),
  after: z.int().min(1).optional().describe("Lines of the pages before."),
});

/** A release in its author's words, compared with `other`: model, then files, images and replicas. */
function asWritten(
  model: string,
  services: Release["services"],
  { images }: RecordedRelease,
  { other, show }: { readonly other: RecordedRelease; readonly show: ShowDigest },
): string {
  const written = services.flatMap(({ name, inputs, expectation: { replicas } }) => [
    ...Object.entries(inputs).filter(([input]) => WRITTEN_INPUT.test(input))
      .map(([input, digest]) => `# ${name}: ${wordsOf(input)} is ${shortId(show(digest))}\n`),
    // Models lack this number, since it changes without recreating containers.
    ...(replicas === 1 ? [] : [`# ${name}: replicas is ${replicas}\n`]),
  ]);
  const ran = Object.entries(images).map(([name, id]) => `# ${name}: image is ${shortId(id)}\n`);
  const untold = services
    .filter(({ name }) => images[name] === undefined && other.images[name] !== undefined)
    .map(({ name }) => `# ${name}: image is not known: it is recorded when a release is healthy\n`);
  const text = plainModel(model);
  return [
    text.endsWith("\n") ? text : `${text}\n`,
    ...written.sort(),
    ...[...ran, ...untold].sort(),
  ].join("");
}

/** Inputs of a service that its model does not contain. */
const WRITTEN_INPUT = /^(?:(?:file|build|variable):|build_arguments$)/;

function wordsOf(input: string): string {
  return input === "build_arguments" ? "build.args" : input.replace(":", " ");
}

/** Shows the differences between two releases of a stack. A call throws `not_found`. */
export function diffReleasesOperation(parts: StackParts): Operation<z.output<typeof diffView>> {
  return defineOperation({
    id: "diffReleases",
    summary: "Show what differs between two releases of a stack; secrets are masked.",
    tag: "Deployments",
    power: "read",
    input,
    output: diffView,
    errors: ["bad_request", "not_found", "ledger_unusable"],
  }, async ({ context, name, from, to, limit, after = 0 }, { signal }) => {
    const key = stackKey(context, name);
    // Each of these steps takes long for a large model.
    const pauses = createPauses(1);
    const [a, b] = [releaseOf(parts, key, from), releaseOf(parts, key, to)];
    const before = await textOf(parts, a, b, signal);
    await pauses.after(1);
    const now = await textOf(parts, b, a, signal);
    await pauses.after(1);
    const lines = splitLines(unifiedDiff(`release ${from}`, `release ${to}`, before, now));
    const end = after + Math.min(limit, MOST_DIFF_LINES);
    const diff = lines.slice(after, end).join("");
    const next = end < lines.length ? { next: end } : {};
    return { equal: lines.length === 0, diff, ...next };
  });
}

async function textOf(
  { ledger, shownModel, shownDigest }: StackParts,
  release: RecordedRelease,
  other: RecordedRelease,
  signal: AbortSignal,
): Promise<string> {
  const model = await shownModel(release, signal);
  await createPauses(1).after(1);
  const show = (digest: string) => shownDigest(release.key, digest);
  return asWritten(model, ledger.services(release), release, { other, show });
}

function releaseOf({ ledger }: StackParts, key: StackKey, number: number): RecordedRelease {
  const [found] = ledger.history(key, 1, number + 1);
  if (found?.number === number) return found;
  if (ledger.history(key, 1).length === 0) throw noRelease({ ledger }, key);
  throw errors.not_found(`${key.name} has no release ${number}; its history lists what there is`, {
    told: `${key.name} has no release of this number; its history lists what there is`,
  });
}
