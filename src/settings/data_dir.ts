import { posix } from "node:path";
import type { SettingName } from "./settings_table.ts";
import { type Environment, quote, type VariableReader } from "./variable_reader.ts";

/** An absolute path without slashes at its end. */
export function absolute(reader: VariableReader, name: SettingName): string | undefined {
  const text = reader.text(name);
  if (text === undefined) return undefined;
  if (!text.startsWith("/")) reader.refuse(name, `expected an absolute path, found ${quote(text)}`);
  return posix.normalize(text).replace(/(?<=.)\/+$/, "");
}

/** The image sets DATA_DIR itself, so its place needs no rule here. */
export function defaultDataDir(
  environment: Environment,
  uid: number | undefined,
  reader: VariableReader,
): string {
  // systemd lists several directories with colons; the first is ours.
  const state = environment["STATE_DIRECTORY"]?.split(":")[0];
  if (state !== undefined && state.startsWith("/")) return state;
  if (uid === 0) return "/var/lib/stackwright";
  const xdg = environment["XDG_STATE_HOME"];
  if (xdg !== undefined && xdg.startsWith("/")) return posix.join(xdg, "stackwright");
  const home = environment["HOME"];
  if (home !== undefined && home.startsWith("/")) {
    return posix.join(home, ".local/state/stackwright");
  }
  reader.refuse("DATA_DIR", "must be set: there is no home directory to put the data into");
  return "/";
}
