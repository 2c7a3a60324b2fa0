import { type Deployment, errors, type SwarmRelease } from "../model/mod.ts";

/**
 * A sentence for each field that this version does not act on, where that only means doing less: what
 * is deployed is what its author wrote.
 */
export function ignoredFields(
  { name, source }: Deployment,
  given: ReadonlySet<string>,
): readonly string[] {
  const texts: string[] = [];
  if (given.has("oci") && source !== "oci") {
    texts.push(
      "oci has no effect: it is about artifacts, and no signature of a commit is verified",
    );
  }
  return texts.map((text) => `deployment ${name}: ${text}`);
}

/**
 * Refuses configuration whose behaviour this version does not have yet, where ignoring it would
 * deploy something else than its author wrote; see {@link ignoredFields} for the rest.
 *
 * Throws `unsupported` naming it.
 */
export function requireSupported(deployment: Deployment): void {
  if (deployment.source !== "oci") return;
  throw errors.unsupported(
    `deployment ${deployment.name}: this version of Stackwright does not act on source: oci yet; ` +
      `remove it, or use a version that does. Nothing was changed`,
  );
}

/**
 * What a deployment is in a swarm: where it says so, or where it says nothing and its engine manages one;
 * `undefined` where it is made of containers.
 *
 * Throws `config_invalid` where it wants a swarm and the engine manages none.
 */
export function swarmOf(
  { name, swarm }: Deployment,
  engine: { readonly swarm: string },
): SwarmRelease | undefined {
  const { enabled, configRetention, secretRetention } = swarm;
  const isManager = engine.swarm === "manager";
  if (enabled === true && !isManager) {
    throw errors.config_invalid(
      `deployment ${name}: swarm.enabled is true, but the engine manages no swarm (it is ` +
        `${engine.swarm}), or CONTAINER_SWARM_FEATURES is false. Nothing was changed`,
    );
  }
  if (!isManager || enabled === false) return undefined;
  return {
    ...(configRetention === undefined ? {} : { configRetention }),
    ...(secretRetention === undefined ? {} : { secretRetention }),
  };
}
