import type { ExternalSecrets } from "../secrets/mod.ts";
import type { Source } from "../source/source.ts";
import type { Clock, Files, Lend, Log, Meter } from "../system/mod.ts";
import type { EncryptedFiles } from "./encrypted_files.ts";
import type { Host } from "./host.ts";
import type { RenderedModels } from "./rendered_models.ts";

/** Settings of preparing. */
export interface PrepareOptions {
  /** Data directory as this process sees it. */
  readonly dataDir: string;
  /** Further files and directories that no container may mount: where our secrets come from. */
  readonly protectedPaths: readonly string[];
  /** Variables of our own environment that take part in interpolation (`PASS_ENV`); usually none. */
  readonly passedVariables: Readonly<Record<string, string>>;
}

/** Ports for making a release of a target. No ledger, no locks and no trees that others use. */
export interface PrepareParts {
  /** Reads encrypted files in the clear. */
  readonly source: Source;
  /** Does the same for trees on disk. */
  readonly encrypted: EncryptedFiles;
  /** Asked for images, networks and volumes; only images are changed there. */
  readonly host: Host;
  /** What compose rendered lately. */
  readonly rendered: RenderedModels;
  /** Digests that only this installation can make: they cover secrets and end up in labels. */
  readonly key: { digest(text: string): string };
  readonly secrets: ExternalSecrets;
  /** Waits for stores of secrets, where what prepares has a slot. */
  readonly lend?: Lend;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly options: PrepareOptions;
}
