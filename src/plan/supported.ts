import { type Deployment, errors, type SwarmRelease } from "../model/mod.ts";

/** A sentence for each field that is ignored without harm: what the author wrote is still deployed. */
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
 * Refuses configuration that this version cannot act on and must not ignore, since it would deploy
 * something else than the author wrote; see {@link ignoredFields} for the rest.
 *
 * Throws `unsupported` with the field.
 */
export function requireSupported(deployment: Deployment): void {
  if (deployment.source !== "oci") return;
  throw errors.unsupported(
    `deployment ${deployment.name}: this version of Stackwright does not act on source: oci yet; ` +
      `remove it, or use a version that does. Nothing was changed`,
  );
}

/**
 * Swarm options of a deployment that asks for a swarm, or leaves it open while its engine manages
 * one; `undefined` for a deployment of containers.
 *
 * Throws `config_invalid` where it asks for a swarm and the engine manages none.
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
