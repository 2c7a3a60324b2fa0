import { posix } from "node:path";
import { MOST_BYTES, parseSecretFile, sideFilePlace } from "../config/mod.ts";
import { errors, type SecretReference, utf8 } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";
import { filesOwner, hidingOwner, type Target } from "./target.ts";

/** A target with the values of its external secrets. */
export interface ResolvedTarget extends Target {
  /** Values by name of the variable. Never log them. */
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * Reads the external secrets of a target from its stores; its own references win over those of its
 * files. Costs nothing without references.
 *
 * Throws `config_invalid` and `path_escapes` for its files, `secret_unresolved` naming every
 * variable without a value.
 */
export async function resolveSecrets(
  parts: PrepareParts,
  target: Target,
  signal: AbortSignal,
): Promise<ResolvedTarget> {
  const { deployment, revision } = target;
  const references: Record<string, SecretReference> = {};
  for (const file of deployment.externalSecretsFiles) {
    Object.assign(references, await readSecretFile(parts, target, file, signal));
  }
  Object.assign(references, deployment.externalSecrets);
  const session = target.secretSession ?? parts.secrets.open();
  const declared = { deployment: deployment.name, repository: revision.source.name, references };
  const ask = () => session.resolve(declared, signal);
  const stores = storesOf(references);
  const isLent = parts.lend !== undefined && stores.length > 0;
  const secrets = await (isLent ? parts.lend(stores, ask) : ask());
  parts.secrets.hide(Object.values(secrets), hidingOwner(target));
  return { ...target, secrets };
}

/** Names of the stores to wait for; only the provider `webhook` has several. */
function storesOf(references: Readonly<Record<string, SecretReference>>): readonly string[] {
  return Object.values(references).map((each) =>
    `store ${each.kind === "text" ? "" : each.storeRef}`
  );
}

async function readSecretFile(
  parts: PrepareParts,
  target: Target,
  file: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, SecretReference>>> {
  const { deployment, revision, configuration } = target;
  const { from, path } = sideFilePlace(deployment, file);
  const at = from === "configuration" ? configuration : revision;
  const where = `deployment ${deployment.name}: external_secrets_files`;
  if (path === ".." || path.startsWith("../") || posix.isAbsolute(path)) {
    throw errors.path_escapes(`${where}: ${file} lies outside the repository`);
  }
  const owner = filesOwner(target, at);
  const bytes = await parts.source.read(at, path, signal, MOST_BYTES, owner);
  if (bytes === undefined) {
    const why = `no such file in ${at.source.name}: ${file} (looked for ${path})`;
    throw errors.config_invalid(`${where}: ${why}`);
  }
  return await parts.turns.take(() => parseSecretFile(utf8(bytes), path), signal);
}
