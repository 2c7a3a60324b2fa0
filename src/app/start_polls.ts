import { localRepository } from "./local_repository.ts";
import type { System } from "./system.ts";
import type { PollEntry } from "../config/mod.ts";
import { messageOf, type SourceRequest, type Sync } from "../model/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { lookAtRepository, runPolls } from "../trigger/mod.ts";
import type { Intake } from "../intake.ts";
import type { Assembly } from "./assemble.ts";
import { notePlanned } from "./next_poll.ts";

/** Polls the sources of the settings until the signal aborts. */
export async function startPolls(
  settings: Settings,
  { clock, log, files }: System,
  { heldUntil, ledger, intake }: Pick<Assembly, "heldUntil" | "ledger"> & {
    readonly intake: Intake;
  },
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const look = (request: SourceRequest) => {
    const path = localRepository(request);
    return path === undefined ? undefined : lookAtRepository(files, path);
  };
  const { polls, timeZone } = settings;
  const submit = (work: Sync) => intake.submit(work);
  const planned = (entry: PollEntry, at: Date) => {
    try {
      notePlanned(ledger.service, entry, at);
    } catch (error) {
      // It is polled then all the same.
      log.debug(`when the next poll comes was not recorded: ${messageOf(error)}`);
    }
  };
  const parts = {
    submit,
    planned,
    clock,
    log,
    timeZone,
    random: Math.random,
    look,
    heldUntil,
  };
  await runPolls(polls, parts, signal);
}
