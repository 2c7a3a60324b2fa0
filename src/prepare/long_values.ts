import { Buffer } from "node:buffer";
import { objectAt, servicesOf } from "../compose/mod.ts";
import { type ComposeModel, errors } from "../model/mod.ts";

/**
 * Bytes of the longest `NAME=value` that a program can be started with: the kernel's
 * MAX_ARG_STRLEN, minus the prefix of variables that pass configs and secrets to compose.
 */
const LONGEST = 128 * 1024 - 64;

/**
 * Refuses a container's variable that is too long for starting a program: it would fail in the
 * middle of the replacement. Throws `config_invalid`, which names the variable without its value.
 */
export function requireShortEnvironment(model: ComposeModel): void {
  for (const [service, definition] of Object.entries(servicesOf(model))) {
    for (const [name, value] of Object.entries(objectAt(definition, "environment"))) {
      if (typeof value === "string") requireShort(`services.${service}.environment`, name, value);
    }
  }
}

/** Refuses one variable that is too long; `where` names its user. Throws `config_invalid`. */
export function requireShort(where: string, name: string, value: string): void {
  const length = Buffer.byteLength(`${name}=${value}`);
  if (length <= LONGEST) return;
  throw errors.config_invalid(
    `${where}: the variable ${name} is ${Math.floor(length / 1024)} KiB long, and a program ` +
      "takes at most 128 KiB of one: give the text by a file of the repository, which is mounted",
  );
}
