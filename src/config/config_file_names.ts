import { errors } from "../model/mod.ts";

const TARGET = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const OURS = ".stackwright";
/** Prefix of the configuration files of doco-cd, for users who migrate. */
const MIGRATED = ".doco-cd";
const ROOT_FILE = /^\.(?:stackwright|doco-cd)(?:\.[A-Za-z0-9][A-Za-z0-9._-]*)?\.ya?ml$/;

/** True when `target` can name a configuration file: no separator, no leading dot or dash. */
export function isConfigTarget(target: string): boolean {
  return target.length <= 100 && TARGET.test(target);
}

/**
 * Names of the deployment configuration for a target (empty for the default one) in lookup order:
 * the first that exists is used, alone. With a target there is no fallback to the default file.
 *
 * Throws `bad_request` when the target cannot be part of a file name.
 */
export function configFileNames(target: string): readonly string[] {
  if (target !== "" && !isConfigTarget(target)) {
    throw errors.bad_request(
      "looking up the configuration target failed: its name must consist of letters, digits, " +
        "dots, dashes and underscores and start with a letter or digit",
    );
  }
  const middle = target === "" ? "" : `.${target}`;
  return [OURS, MIGRATED].flatMap((name) => [`${name}${middle}.yaml`, `${name}${middle}.yml`]);
}

/** True when a file carries the migration's name, where version `doco.v1` means `service.v1`. */
export function isMigrationFile(path: string): boolean {
  return path.slice(path.lastIndexOf("/") + 1).startsWith(`${MIGRATED}.`);
}

/** True when a name in a directory is one of a deployment configuration, for whatever target. */
export function isConfigFileName(name: string): boolean {
  return ROOT_FILE.test(name);
}
