import { servicesOf } from "./model.ts";
import { type ComposeModel, errors, listOf } from "../model/mod.ts";

const HOOKS = ["post_start", "pre_stop"] as const;
/** The first version of compose that runs hooks; earlier ones read them and leave it at that. */
const RUNS_HOOKS = [2, 30] as const;

/**
 * Refuses hooks of services that the installed compose would pass over in silence: what depends on
 * them would be called deployed without having been done. `version` is asked only where there are
 * hooks. Throws `unsupported`, and what `version` throws.
 */
export async function requireHooksRun(
  model: ComposeModel,
  name: string,
  version: () => Promise<string>,
): Promise<void> {
  const found = Object.entries(servicesOf(model)).flatMap(([service, definition]) =>
    HOOKS.filter((hook) => listOf(definition[hook]).length > 0).map((hook) => ({ service, hook }))
  );
  const [first] = found;
  if (first === undefined) return;
  const installed = await version();
  if (runsHooks(installed)) return;
  throw errors.unsupported(
    `deployment ${name}: service ${first.service} has ${first.hook}, which the installed docker ` +
      `compose ${installed} would not run; install compose ${RUNS_HOOKS.join(".")} or newer`,
  );
}

/** A version that cannot be read is a new one: nobody should be kept from it. */
function runsHooks(version: string): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return true;
  const [wantedMajor, wantedMinor] = RUNS_HOOKS;
  return Number(major) > wantedMajor ||
    (Number(major) === wantedMajor && Number(minor) >= wantedMinor);
}
