import { stackKey } from "../model/mod.ts";
import * as z from "zod";
import { recordedOwner } from "../record/mod.ts";
import { createTimeFormat } from "../system/mod.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { releaseView, viewRelease } from "./release_views.ts";
import { noRelease, pageInput, type StackParts } from "./stack_parts.ts";

const DEFAULT_RELEASE_LIMIT = 50;
/** Most releases of a page; greater limits count as this one. */
const MOST_RELEASES = 200;

const releasesView = z.strictObject({
  releases: z.array(releaseView),
  next: z.int().optional().describe("`before` of the next page, when there is one."),
});

type ReleasesView = z.output<typeof releasesView>;

/** Lists the releases of a stack, newest first. A call throws `not_found` when there is none. */
export function listReleasesOperation(parts: StackParts): Operation<ReleasesView> {
  const { ledger, timeZone } = parts;
  const time = createTimeFormat(timeZone);
  return defineOperation({
    id: "listReleases",
    summary: "List the releases of a stack, newest first.",
    tag: "Deployments",
    power: "read",
    input: pageInput(DEFAULT_RELEASE_LIMIT, MOST_RELEASES),
    output: releasesView,
    errors: ["bad_request", "not_found"],
  }, ({ context, name, limit, before }) => {
    const key = stackKey(context, name);
    const most = Math.min(limit, MOST_RELEASES);
    const found = ledger.history(key, most + 1, before);
    if (found.length === 0 && before === undefined) throw noRelease(parts, key);
    const now = { current: ledger.current(key)?.id, owner: recordedOwner(ledger, key) };
    const releases = found.slice(0, most).map((each) => viewRelease(each, now, time));
    const next = found.length > most ? releases.at(-1)?.number : undefined;
    return { releases, ...(next === undefined ? {} : { next }) };
  });
}
