import type { StackKey } from "../model/mod.ts";
import type { ExternalSecrets } from "../secrets/mod.ts";
import type { Source } from "../source/source.ts";
import type { Clock, Files, Lend, Log, Meter, Turns } from "../system/mod.ts";
import type { EncryptedFiles } from "./encrypted_files.ts";
import type { Host } from "./host.ts";
import type { RenderedModels } from "./rendered_models.ts";

/** Settings for preparing releases. */
export interface PrepareOptions {
  /** Data directory as this process sees it. */
  readonly dataDir: string;
  /** Further files and directories that no container may mount, since they hold our secrets. */
  readonly protectedPaths: readonly string[];
  /** Variables of our environment for interpolation (`PASS_ENV`); usually none. */
  readonly passedVariables: Readonly<Record<string, string>>;
}

/** Ports for preparing a release: no ledger, no locks and no trees that others use. */
export interface PrepareParts {
  /** Source that decrypts files. */
  readonly source: Source;
  /** Decrypts files in trees on disk. */
  readonly encrypted: EncryptedFiles;
  /** Engine for reading images, networks and volumes; only images are changed. */
  readonly host: Host;
  readonly rendered: RenderedModels;
  /**
   * Ids of images that what is prepared may use, by stack: no record counts them before it is deployed, and
   * who prunes or removes another stack leaves them. Whoever holds the stack's lock ends that.
   */
  readonly imagesAhead: Map<string, Set<string>>;
  /** Stacks that a plan removes, by {@link formatStackKey}, before it deploys others: what they have is free then. */
  readonly goes?: ReadonlySet<string>;
  /** Digests with this installation's key: they cover secrets and appear in labels, or are shown. */
  readonly key: { digest(text: string): string; shown(key: StackKey, text: string): string };
  readonly secrets: ExternalSecrets;
  /**
   * The sources of configurations whose things a stack has, beside its owner's, by a hand-over; `undefined`
   * while it has all that was made for its name.
   */
  readonly handedOver: (key: StackKey) => ReadonlySet<string> | undefined;
  /** Runs waits for secret stores when the preparation holds a slot. */
  readonly lend?: Lend;
  /** Turns for what holds the whole process up, such as parsing a file of a repository. */
  readonly turns: Turns;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly options: PrepareOptions;
}
