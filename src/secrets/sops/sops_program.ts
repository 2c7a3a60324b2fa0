import { clip } from "../../model/mod.ts";
import type { Commands } from "../../system/mod.ts";
import type { ProgramFile } from "./program_file.ts";
import { SopsFormatError } from "./sops_text.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that tell `sops` about key services; they may hold credentials (`VAULT_TOKEN`). */
const KEY_SERVICES = /^(?:SOPS|AWS|AZURE|GOOGLE|CLOUDSDK|VAULT|HUAWEICLOUD)_/;
/** The other variables that the `sops` program gets: how to reach the keys, and nothing of ours. */
const PASSED =
  /^(?:PATH|HOME|TMPDIR|GNUPGHOME|SSL_CERT_(?:FILE|DIR)|XDG_(?:CONFIG_HOME|RUNTIME_DIR)|(?:HTTPS?|NO|ALL)_PROXY|(?:https?|no|all)_proxy)$/;

/** Whether a variable configures a service that keeps keys: repositories must not read it. */
export function isOfKeyService(name: string): boolean {
  return KEY_SERVICES.test(name);
}

const TIMEOUT_MS = 60_000;
/** A message of PGP may be packed a thousandfold, and all of it is held at once. */
const MOST_MEMORY = 1024 ** 3;
/** Bytes that it may print: the largest file that is decrypted, and what escapes add to it. */
const MOST_PRINTED = 64 * 1024 ** 2;

/** Decrypts what needs other keys than age's, with the `sops` program where that is installed. */
export interface SopsProgram {
  /**
   * What the program prints of an encrypted file of JSON, or `undefined` when the program is not installed.
   *
   * Throws {@link SopsFormatError} with what the program says and the `advice`, `timeout` when a key
   * service does not answer.
   */
  decrypt(
    file: Pick<ProgramFile, "bytes" | "output"> & { readonly advice?: string },
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined>;
  /** The only Vault server that its token may be sent to; `undefined` when none is configured. */
  readonly vaultAddress: string | undefined;
}

interface ProgramParts {
  readonly commands: Commands;
  /** Our environment; the program gets the part of it that concerns keys. */
  readonly env: Environment;
  /** The text of SOPS_AGE_KEY or its file. */
  readonly ageKey: string | undefined;
}

/** Makes the runner of the `sops` program on PATH. */
export function createSopsProgram({ commands, env, ageKey }: ProgramParts): SopsProgram {
  const passed = Object.entries(env).filter((entry): entry is [string, string] =>
    (PASSED.test(entry[0]) || isOfKeyService(entry[0])) && entry[1] !== undefined
  );
  const environment = {
    ...Object.fromEntries(passed),
    ...(ageKey === undefined ? {} : { SOPS_AGE_KEY: ageKey }),
  };
  return {
    vaultAddress: env["VAULT_ADDR"],
    async decrypt({ bytes, output, advice = "" }, signal) {
      // Through standard input, so that neither a name nor a configuration of a repository counts.
      const sops = ["sops", "--decrypt", "--input-type", "json", "--output-type", output];
      const { code, stdout, stderr } = await commands.run({
        argv: ["/bin/sh", "-c", THROUGH_A_PIPE, "sh", ...sops, "/dev/stdin"],
        cwd: "/",
        env: environment,
        stdin: bytes,
        timeoutMs: TIMEOUT_MS,
        mostMemory: MOST_MEMORY,
        mostBytes: MOST_PRINTED,
      }, signal);
      if (code === 0) return stdout;
      if (code === NOT_FOUND) return undefined;
      const said = `the sops program says: ${shortened(stderr)}${advice}`;
      throw new SopsFormatError(said, { mayPass: true });
    },
  };
}

/** A runtime may give its children a socket as standard input, which nobody can open by its name. */
const THROUGH_A_PIPE = 'command -v sops >/dev/null || exit 127; cat | "$@"';
/** The status of a shell that finds no such program. */
const NOT_FOUND = 127;

/** How it ends when no key fits, in several lines: all before it said that. */
const NO_KEY = /^Recovery failed because/m;

function shortened(text: string): string {
  const [told = ""] = text.split(NO_KEY);
  const lines = (told.trim() || text).split("\n").map((line) => line.trim());
  const said = lines.filter((line) => line !== "").slice(0, 6).join("; ");
  return said === "" ? "nothing" : clip(said, 400);
}
