import { errors, formatProblem, type Problem, type StackwrightError } from "../model/mod.ts";
import type { SettingName } from "./settings_table.ts";
import { type Environment, quote, VariableReader } from "./variable_reader.ts";

interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The address at which the main server listens: all that a health check needs to know. */
interface ListenSettings {
  /** Address or name of an address of this machine. */
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | undefined;
}

/**
 * Reads address, port and TLS files alone, for the health check, which must work whatever else is wrong.
 *
 * Throws `settings_invalid`.
 */
export function readListenSettings(environment: Environment): ListenSettings {
  const reader = new VariableReader(environment, () => "");
  const settings = {
    host: listenHost(reader, "HTTP_HOST") ?? EVERY_ADDRESS,
    port: reader.integer("HTTP_PORT"),
    tls: tlsFiles(reader),
  };
  if (reader.problems.length > 0) throw invalidSettings(reader.problems);
  return deepFreeze(settings);
}

/** The error for settings that are wrong: all of them, a line each. */
export function invalidSettings(problems: readonly Problem[]): StackwrightError {
  const count = problems.length === 1 ? "1 setting is" : `${problems.length} settings are`;
  const lines = problems.map((problem) => formatProblem(problem));
  const message = [`${count} invalid:`, ...lines].join("\n");
  return errors.settings_invalid(message, { problems });
}

/** The address to listen on where nobody names one. */
export const EVERY_ADDRESS = "0.0.0.0";

/** An address or a name to listen on. Whether this machine has the address is seen when it is listened on. */
export function listenHost(reader: VariableReader, name: SettingName): string | undefined {
  const text = reader.text(name)?.trim();
  if (text === undefined || text === "") return undefined;
  if (!isIpv6(text) && !/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text)) {
    reader.refuse(
      name,
      `expected an address of this machine such as 127.0.0.1, without port; found ${quote(text)}`,
    );
  }
  return text;
}

/** The square brackets of a URL hold an address of version 6 and nothing else. */
function isIpv6(text: string): boolean {
  return /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`);
}

/** Certificate and key, both or neither. */
export function tlsFiles(reader: VariableReader): TlsFiles | undefined {
  const certFile = reader.text("HTTP_TLS_CERT_FILE");
  const keyFile = reader.text("HTTP_TLS_KEY_FILE");
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile !== undefined) {
    reader.refuse("HTTP_TLS_KEY_FILE", "must be set too, since HTTP_TLS_CERT_FILE is");
  }
  if (keyFile !== undefined) {
    reader.refuse("HTTP_TLS_CERT_FILE", "must be set too, since HTTP_TLS_KEY_FILE is");
  }
  return undefined;
}

/** Freezes a value and everything in it; returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
