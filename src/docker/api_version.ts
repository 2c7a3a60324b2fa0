import { errors } from "../model/mod.ts";

/** Newest API version this client was written for. */
export const NEWEST_API = "1.48";
/** Oldest API version this client can work with (Engine 20.10). */
export const OLDEST_API = "1.41";

interface EngineVersions {
  readonly newest: string;
  /** Absent where the engine does not report it. */
  readonly oldest?: string;
}

/**
 * The API version to use: `override` (`DOCKER_API_VERSION`) unchanged if it is set, else the older
 * one of ours and the engine's.
 *
 * Throws `unsupported` without a common version, `settings_invalid` for a malformed override.
 */
export function chooseApiVersion(engine: EngineVersions, override = ""): string {
  if (override !== "") return checkedOverride(override);
  if (![engine.newest, engine.oldest ?? "1.0"].every((each) => VERSION.test(each))) {
    throw errors.unsupported(
      "what answers does not say which versions of the Docker Engine API it speaks",
    );
  }
  const chosen = compareVersions(engine.newest, NEWEST_API) < 0 ? engine.newest : NEWEST_API;
  if (compareVersions(chosen, OLDEST_API) < 0) {
    throw errors.unsupported(
      `the engine speaks API ${engine.newest} at most, ${OLDEST_API} is needed; update the engine`,
    );
  }
  if (engine.oldest !== undefined && compareVersions(chosen, engine.oldest) < 0) {
    throw errors.unsupported(
      `the engine speaks API ${engine.oldest} at least, this program ${NEWEST_API} at most; ` +
        "update Stackwright",
    );
  }
  return chosen;
}

/** Negative when `a` is older than `b`, 0 when equal: `1.9` is older than `1.41`. */
export function compareVersions(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split(".").map(Number);
  const [majorB = 0, minorB = 0] = b.split(".").map(Number);
  return majorA - majorB || minorA - minorB;
}

const VERSION = /^\d{1,4}\.\d{1,4}$/;

function checkedOverride(override: string): string {
  if (VERSION.test(override)) return override;
  throw errors.settings_invalid(
    `DOCKER_API_VERSION=${override} is no API version; expected one such as ${NEWEST_API}`,
  );
}
