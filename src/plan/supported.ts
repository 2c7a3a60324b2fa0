import { type Deployment, StackwrightError } from "../model/mod.ts";

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
 * The engine's swarm state decides the mode where the configuration does not. Throws `unsupported` naming every such field.
 */
export function requireSupported(
  deployment: Deployment,
  engine: { readonly swarm: string },
): void {
  requireKnownContext(deployment);
  const fields = [
    engine.swarm === "manager" && deployment.swarm.enabled === undefined
      ? "swarm mode, which this engine is in (swarm.enabled: false deploys with compose)"
      : "",
    deployment.source === "oci" ? "source: oci" : "",
    deployment.swarm.enabled === true ? "swarm.enabled" : "",
  ].filter((field) => field !== "");
  if (fields.length === 0) return;
  throw new StackwrightError(
    "unsupported",
    `deployment ${deployment.name}: this version of Stackwright does not act on ${
      fields.join(", ")
    } yet; ` +
      `remove it, or use a version that does. Nothing was changed`,
  );
}

/** Throws `config_invalid` for a context that this instance does not have. */
function requireKnownContext({ name, context }: Deployment): void {
  if (context === "") return;
  throw new StackwrightError(
    "config_invalid",
    `deployment ${name}: unknown context ${
      JSON.stringify(context)
    }; this instance knows only the ` +
      `default context, which is meant when context is left out. Nothing was changed`,
  );
}
