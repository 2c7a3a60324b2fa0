import { labelsOf, servicesOf } from "../../compose/mod.ts";
import { readJobLabels } from "../../config/mod.ts";
import { readMark } from "../../deploy/mod.ts";
import {
  fewOf,
  formatOwner,
  isSameOwner,
  ownerFrom,
  type Release,
  type StackOwner,
} from "../../model/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import { byOtherContext, recordedOwner } from "../../record/mod.ts";
import { fullReference, surelySameRepository } from "../../source/mod.ts";
import { createPauses } from "../../system/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** The parts that tell whose a stack is, by the ledger or by its containers. */
interface ForeignParts extends Pick<PipelineParts, "ledger" | "log"> {
  readonly host: { readonly engine: Pick<PipelineParts["host"]["engine"], "listContainers"> };
  readonly options: Pick<PipelineParts["options"], "reachedAs">;
}

/**
 * Warns of jobs that stop services of a stack which another source deploys: each of their runs is
 * refused when it is due, as {@link runJob} says, and until then nobody would know. A stack that
 * Stackwright does not know yet is whose its containers say, as doco-cd labelled them.
 */
export async function warnOfForeignStops(
  parts: ForeignParts,
  { key, configuration }: Pick<Target, "key" | "configuration">,
  { model }: Pick<Release, "model">,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, log } = parts;
  const asked = ownerFrom(configuration);
  const pauses = createPauses(MOST_ASKED);
  const about = { stack: key.name, context: key.context };
  let seen: ReadonlyMap<string, string> | undefined;
  let found = 0;
  for (const [project, services] of stopping(key.name, model)) {
    await pauses.after(1);
    const owner = recordedOwner(ledger, { ...key, name: project });
    if (owner === undefined) seen ??= await othersByLabels(parts, asked, signal);
    const others = owner === undefined
      ? seen?.get(project)
      : isSameOwner(owner, asked)
      ? undefined
      : formatOwner(owner);
    const elsewhere = byOtherContext(ledger, { ...key, name: project }, asked);
    const from = others ?? elsewhere;
    if (from === undefined || ++found > MOST_TOLD) continue;
    const when = owner === undefined && others !== undefined
      ? " once Stackwright has deployed that"
      : "";
    const text =
      `service ${fewOf(services, MOST_TOLD)}: its job stops services of ${project}, which ` +
      `runs from ${from}: its runs are refused${when}, since a job stops what is deployed from its ` +
      "own source, by its own context; take that out of stop_services, or deploy both from one " +
      "repository by one context";
    log.warning(text, about);
  }
  if (found <= MOST_TOLD) return;
  log.warning(`jobs stop services of ${found - MOST_TOLD} more stacks of other sources`, about);
}

/** Stacks, and services, that are told of. */
const MOST_TOLD = 10;
/** Stacks whose owners are asked for in one go. */
const MOST_ASKED = 50;

/** The services of a stack whose jobs stop services of each other project. */
function stopping(stack: string, model: Release["model"]): ReadonlyMap<string, string[]> {
  const projects = new Map<string, string[]>();
  for (const [service, definition] of Object.entries(servicesOf(model))) {
    const own = { project: stack, service };
    const { enabled, stopServices = [] } = readJobLabels(labelsOf(definition), own) ?? {};
    for (const project of enabled ? new Set(stopServices.map((each) => each.project)) : []) {
      if (project === stack) continue;
      const services = projects.get(project) ?? [];
      services.push(service);
      projects.set(project, services);
    }
  }
  return projects;
}

/** Where the containers of each project say that it is deployed from, left out what is from the same place. */
async function othersByLabels(
  { host: { engine }, options: { reachedAs = () => [] } }: ForeignParts,
  asked: StackOwner,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { source } = asked;
  const names = [source, ...reachedAs(source)];
  const marks = (await engine.listContainers({}, signal)).map(({ labels }) => readMark(labels));
  return new Map(
    marks.flatMap(({ stack, configuration, deployed, reference: written = "" }) => {
      const from = configuration ?? deployed;
      if (!from) return [];
      if (!names.some((name) => surelySameRepository(from, name))) return [[stack, from] as const];
      const full = fullReference("git", written || "HEAD");
      const owner = { source, reference: full.startsWith("refs/heads/") ? full : "" };
      return isSameOwner(owner, asked) ? [] : [[stack, formatOwner(owner)] as const];
    }),
  );
}
