import { join } from "node:path";
import { parentsOf } from "../compose/mod.ts";
import { isOurs, type ObservedStack, own, type Plan, type Release } from "../model/mod.ts";
import type { Log } from "../system/mod.ts";
import { holdsSomething, type OldDataParts } from "./copy_old_data.ts";
import { findOldData, inCheckout, liveMounts, mountedByUs, mountsOf } from "./old_data.ts";
import { stackDirectories } from "./stack_files.ts";

/** Services of which it is said: an author may have any number. */
const MOST_TOLD = 20;

/**
 * Adds to a plan where a service begins with an empty directory that a container of the stack has in somebody
 * else's copy of the repository, since the adoption left that container alone. Nothing is copied any more
 * then, as its service is another one; what has no word looks like data loss. Warns of it, too.
 */
export async function withEmptyBeginnings(
  parts: Pick<OldDataParts, "host" | "files" | "options"> & { readonly log: Pick<Log, "warning"> },
  release: Release,
  observed: ObservedStack,
  plan: Plan,
  signal: AbortSignal,
): Promise<Plan> {
  // At the first deployment it gets a copy.
  const isLater = observed.containers.some(isOurs) && !observed.containers.every(isOurs);
  if (plan.kind !== "deploy" || !isLater) return plan;
  const made = plan.services.filter(({ action }) => action === "create" || action === "recreate");
  const names = new Set(made.map(({ name }) => name));
  const told = (await emptyBeginnings(parts, release, { observed, names }, signal))
    .slice(0, MOST_TOLD);
  const { name, context } = release.key;
  for (const { service, text } of told) {
    parts.log.warning(`service ${service}: ${text}`, { stack: name, context });
  }
  const services = plan.services.map((each) => {
    const texts = told.filter(({ service }) => service === each.name).map(({ text }) => text);
    return { ...each, because: [...each.because, ...texts] };
  });
  return { ...plan, services };
}

/** The places of services of these `names` that nothing is in yet, with what is said of each. */
async function emptyBeginnings(
  { host, files, options }: Pick<OldDataParts, "host" | "files" | "options">,
  release: Release,
  { observed, names }: { readonly observed: ObservedStack; readonly names: ReadonlySet<string> },
  signal: AbortSignal,
) {
  const { key, live: { files: committed }, workingDir } = release;
  const hostLive = stackDirectories(host.dataDir, key).live;
  const { live } = stackDirectories(options.dataDir, key);
  const wanted = liveMounts(release.model, hostLive).filter(({ service }) => names.has(service));
  if (wanted.length === 0) return [];
  const { containers, mounted } = await mountsOf(host.engine, release, observed, signal);
  const ours = mountedByUs(mounted, hostLive);
  const byPath = inCheckout(mounted.filter(({ container }) => !isOurs(container)), workingDir);
  const candidates = wanted.filter(({ path }) => byPath.has(path) && !ours.has(path));
  if (candidates.length === 0) return [];
  const to = { ...release, dataDir: host.dataDir };
  const copied = await findOldData(host.engine, to, { ...observed, containers }, signal);
  const brought = new Set(copied.map(({ path }) => path));
  const found: { readonly service: string; readonly text: string }[] = [];
  for (const { service, target, path } of candidates) {
    const old = byPath.get(path);
    const isBrought = parentsOf(path).some((each) => brought.has(each)) || brought.has(path);
    if (old === undefined || isBrought || own(committed, path) !== undefined) continue;
    if (await holdsSomething(files, join(live, path))) continue;
    const { bind: { source }, container } = old;
    const seen = await host.localPath(source, signal);
    if (seen !== undefined && !await holdsSomething(files, seen)) continue;
    const text =
      `${target} begins empty: what ${source} holds, which container ${container.name} mounts ` +
      `that Stackwright did not make, stays there; to go on with it, stop that and copy it to ` +
      `${join(hostLive, path)} before`;
    found.push({ service, text });
  }
  return found;
}
