import * as z from "zod";
import {
  errors,
  formatOwner,
  ownerFrom,
  plainOwner,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import { askBeforeHandOver, type AskParts } from "../pipeline/mod.ts";
import { recordedOwner } from "../record/mod.ts";
import { sourceLocation, sourceNameOf } from "../source/mod.ts";
import type { Operation } from "./operation.ts";
import { ownerView } from "./release_views.ts";
import { stackAction } from "./stack_action.ts";
import { stackInput, type StackParts } from "./stack_parts.ts";
import type { SyncStackParts } from "./sync_stack.ts";

type LedgerPart = Pick<StackParts, "ledger">;

/** Ports for handing stacks over. */
export interface AdoptParts extends Pick<SyncStackParts, "ledger" | "polls">, AskParts {}

/** The change of a stack's owner. */
const adoptionView = z.strictObject({
  owner: ownerView,
  before: ownerView.optional().describe("Whose it was; absent when that was not known."),
  asked: z.boolean().describe(
    "Whether the new owner had it, or was refused it before. If not, see that the source is spelt right.",
  ),
});

const input = stackInput.extend({
  source: z.string().default("").describe(
    "URL or name (`github.com/me/shop`) of the repository; by default the one that was refused.",
  ),
  reference: z.string().default("").describe("Branch; empty for any."),
  releases_of: z.string().default("").describe(
    "URL or name of a former owner's repository: its releases of the stack are handed over, too, and a rollback may choose them. Empty for none.",
  ),
  also: z.array(z.string()).default([]).describe(
    "Other contexts in which to hand it over: all those that lead to the same engine and have another owner of it.",
  ),
});

/**
 * Hands a stack to another source or branch, whose next deployment takes over its containers,
 * volumes and files. Without a source, the claimant that was refused gets it. From then on the
 * previous owner is refused. Releases stay their owners' but for those of the source `releases_of`.
 *
 * A call throws `bad_request` for an invalid source, `not_found` when no claimant was refused,
 * `releases_of` deployed nothing, no poll is of the source and it was not refused, or one of `also` does
 * not lead to its engine, and `conflict` when several were refused, or by a context that is not named
 * another owner has it on that engine, or perhaps has, see {@link askBeforeHandOver}.
 */
export function adoptOperation(
  { ledger, polls, clock, ...parts }: AdoptParts,
): Operation<z.output<typeof adoptionView>> {
  return stackAction({
    action: "adopt",
    id: "adoptDeployment",
    summary: "Hand a stack to another repository or branch, with its volumes and files.",
    input,
    output: adoptionView,
    errors: ["bad_request", "not_found", "conflict"],
  }, async (key, { source, reference, releases_of: of, also }, { signal }) => {
    const before = recordedOwner(ledger, key);
    const owner = wantedOwner({ ledger }, key, { source, reference });
    const releasesOf = of === "" ? "" : namedSource(of).name;
    const askers = [...ledger.owners.refused(key), ...(before === undefined ? [] : [before])];
    const asked = askers.some(({ source: asker }) => asker === owner.source);
    if (!asked) requirePolled(polls, owner, key);
    await askBeforeHandOver({ ...parts, ledger, clock }, key, owner, signal);
    ledger.handOver(key, owner, { releasesOf, also });
    if (ledger.decisions.of(key, 1).length === 0) recordAdopted(ledger, key, owner, clock.now());
    const was = before === undefined ? {} : { before: plainOwner(before) };
    return { owner: plainOwner(owner), ...was, asked };
  });
}

/** Records what was done to a stack that was never deployed here: nothing else would tell of it. */
function recordAdopted(ledger: LedgerPart["ledger"], key: StackKey, owner: StackOwner, at: Date) {
  const message =
    `a person handed it over to ${formatOwner(owner)}, whose next deployment of that ` +
    "name takes over what runs under it; nothing of it was deployed here yet";
  const decided = { revision: "", kind: "skip", message, changes: [], services: [] } as const;
  ledger.decisions.add(key, { trigger: "project", origin: "manual", ...decided }, at);
}

/** Throws `not_found` where there are polls, but none of a source, which is misspelt likely. */
function requirePolled(
  polls: AdoptParts["polls"],
  { source }: StackOwner,
  { name }: StackKey,
): void {
  const named = new Set(polls.map(sourceNameOf));
  if (named.size === 0 || named.has(source)) return;
  const polled = [...named].join(", ");
  throw errors.not_found(
    `POLL_CONFIG does not name ${source}, and it was never refused ${name}: is it spelt right? ` +
      `Polled are ${polled}. What a webhook or apply deploys is refused at first, and can have it ` +
      "then; nothing was changed",
    { told: "no poll is of this source, and it was never refused this stack: is it spelt right?" },
  );
}

function wantedOwner(
  { ledger }: LedgerPart,
  key: StackKey,
  { source, reference }: Pick<StackOwner, "source" | "reference">,
): StackOwner {
  if (source !== "") {
    return ownerFrom({ source: namedSource(source), reference: inFull(reference), id: "" });
  }
  const wanted = ledger.owners.refused(key)
    .filter((each) => reference === "" || each.reference === inFull(reference));
  const [only, ...others] = wanted;
  if (only === undefined) {
    throw errors.not_found(
      `nobody was refused ${key.name} on context ${key.context}: is the name right? A project that ` +
        "somebody made with docker compose needs no adopt: the first deployment of its name takes " +
        "it over. Of what another manager deployed, name the source that is to have it",
      {
        told: "nobody was refused this stack: name the source that is to have it; what was made " +
          "with docker compose needs none, the first deployment of its name takes it over",
      },
    );
  }
  if (others.length === 0) return only;
  throw errors.conflict(
    `several want ${key.name}: ${wanted.map(formatOwner).join(", ")}; name the source, and its ` +
      "reference where it wants several branches",
  );
}

/**
 * Locates a source given by URL or name. In names, `local/…` stands for a path, `user@host/…` for
 * SSH, and anything else for HTTPS; a port follows the host as `_8443`, with `_0` for none.
 */
function namedSource(source: string) {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^[^/\s]+@[^/\s]+:/.test(source) ||
    source.startsWith("/");
  const local = /^local(\/.*)$/.exec(source)?.[1];
  const scheme = /^[^/\s]+@/.test(source) ? "ssh" : "https";
  const place = source.replace(
    /^([^/]+)_(\d+)(?=\/)/,
    (_, host, port) => Number(port) === 0 ? host : `${host}:${port}`,
  );
  return sourceLocation("git", local ?? (isUrl ? source : `${scheme}://${place}`));
}

function inFull(reference: string): string {
  return reference === "" || reference.startsWith("refs/") ? reference : `refs/heads/${reference}`;
}
