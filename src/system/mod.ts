/**
 * The outside world as small ports, each with its real implementation: time, ids, programs, files,
 * logs. Other modules get them as arguments, so that tests can replace them.
 */
export * from "./abortable.ts";
export * from "./abortable_wait.ts";
export * from "./all_in_turns.ts";
export type { Learn } from "./asked_stacks.ts";
export * from "./at_end.ts";
export * from "./clock.ts";
export { isOfMemory } from "./command_errors.ts";
export * from "./commands.ts";
export * from "./contains.ts";
export * from "./count.ts";
export {
  type Command,
  type CommandResult,
  type Commands,
  type Confinement,
  LONGEST_SAID,
  type RunningCommand,
} from "./command.ts";
export * from "./deadline.ts";
export * from "./fair_limiter.ts";
export { requireRoom } from "./disk_room.ts";
export { DiskShares } from "./disk_shares.ts";
export * from "./files.ts";
export { readAll, systemFiles } from "./system_files.ts";
export {
  chmodNow,
  existsNow,
  identityNow,
  namesNow,
  readFileNow,
  removeNow,
  replaceNow,
} from "./files_now.ts";
export { bytesBelow } from "./growth_watch.ts";
export * from "./http_client.ts";
export { type HttpClientOptions } from "./http_transport.ts";
export { type HttpAnswer, type HttpClient, type HttpRequest } from "./http_request.ts";
export { isLoopback, proxyFor } from "./proxy_for.ts";
export * from "./ids.ts";
export * from "./journal.ts";
export { SHORTEST_SECRET } from "./beginnings.ts";
export { MOST_OF_AN_OWNER } from "./known_texts.ts";
export * from "./keep_latest.ts";
export * from "./limiter.ts";
export type { Limits } from "./limits.ts";
export * from "./log.ts";
export { type LogLevel } from "./log_options.ts";
export { type LogOptions } from "./log_options.ts";
export { SharedMemory } from "./memory_watch.ts";
export * from "./meter.ts";
export * from "./in_pieces.ts";
export * from "./networks.ts";
export * from "./once.ts";
export * from "./patience.ts";
export * from "./pauses.ts";
export * from "./process_facts.ts";
export * from "./processor_time.ts";
export * from "./process_owner.ts";
export * from "./redact_texts.ts";
export * from "./redactor.ts";
export * from "./routine.ts";
export * from "./scratch.ts";
export {
  authorOf,
  claimAsOwner,
  EVERYONE,
  NOBODY,
  sourceAsOwner,
  stackAsOwner,
  stackFields,
  stackOfOwner,
} from "./secret_owners.ts";
export * from "./secret_texts.ts";
export * from "./shares.ts";
export * from "./sharing.ts";
export * from "./silent_log.ts";
export * from "./slots.ts";
export * from "./time_format.ts";
export * from "./turns.ts";
export * from "./visible.ts";
export * from "./watched_lock.ts";
export * from "./machine_facts.ts";
