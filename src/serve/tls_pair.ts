import { createPrivateKey, X509Certificate } from "node:crypto";
import { errors, messageOf, type StackwrightError } from "../model/mod.ts";
import { type Files, MOST_GIVEN, readText } from "../system/mod.ts";

/** Paths of the certificate chain and its key, both PEM. */
export interface TlsPairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate chain and its key, as PEM texts. The key is secret. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** Reads a pair. Throws `settings_invalid` for a missing file, for no PEM, and for another's key. */
export async function readTlsPair(paths: TlsPairFiles, files: Files): Promise<TlsPair> {
  const pair = {
    cert: await textOf(paths.certFile, "HTTP_TLS_CERT_FILE", files),
    key: await textOf(paths.keyFile, "HTTP_TLS_KEY_FILE", files),
  };
  const certificate = parse(paths.certFile, "certificate", () => new X509Certificate(pair.cert));
  const key = parse(paths.keyFile, "private key", () => createPrivateKey(pair.key));
  if (certificate.checkPrivateKey(key)) return pair;
  throw errors.settings_invalid(
    `the key in ${paths.keyFile} does not belong to the certificate in ${paths.certFile}`,
  );
}

/** A stamp that changes whenever a file is replaced or written; empty while one cannot be read. */
export async function tlsPairStamp(paths: TlsPairFiles, files: Files): Promise<string> {
  const stamps: string[] = [];
  for (const path of [paths.certFile, paths.keyFile]) {
    // Mounted secrets are links that are retargeted, so only the file behind the link counts.
    const real = await files.realPath(path).catch(() => undefined);
    const info = real === undefined ? undefined : await files.stat(real);
    if (info === undefined) return "";
    stamps.push(`${real} ${info.size} ${info.modifiedAt.getTime()}`);
  }
  return stamps.join("\n");
}

async function textOf(path: string, setting: string, files: Files): Promise<string> {
  try {
    const text = await readText(files, path, MOST_GIVEN);
    if (text !== undefined) return text;
  } catch (error) {
    throw unusable(`${setting}: ${path} cannot be read: ${messageOf(error)}`, error);
  }
  throw unusable(`${setting}: there is no file ${path}`);
}

function parse<T>(path: string, what: string, make: () => T): T {
  try {
    return make();
  } catch {
    // The parser's message may quote the key.
    throw unusable(`${path} holds no usable PEM ${what}`);
  }
}

function unusable(message: string, cause?: unknown): StackwrightError {
  return errors.settings_invalid(message, { cause });
}
