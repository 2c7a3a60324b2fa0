import { isSince } from "./is_since.ts";
import { servicesOf } from "./model.ts";
import { type ComposeModel, errors, listOf } from "../model/mod.ts";

const HOOKS = ["post_start", "pre_stop"] as const;
/** The first version of compose that runs hooks; earlier ones silently ignore them. */
const RUNS_HOOKS = [2, 30] as const;

/**
 * Refuses hooks that the installed compose would silently ignore: the deployment would count as done
 * without them. Calls `version` only for hooks. Throws `unsupported`, and what `version` throws.
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
  // An unknown version counts as new, so that it is not blocked.
  if (isSince(installed, RUNS_HOOKS, true)) return;
  throw errors.unsupported(
    `deployment ${name}: service ${first.service} has ${first.hook}, which the installed docker ` +
      `compose ${installed} would not run; install compose ${RUNS_HOOKS.join(".")} or newer`,
  );
}
