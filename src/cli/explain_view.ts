import type { Explanation } from "../app.ts";
import type { StackKey } from "../model/mod.ts";

/**
 * An explanation as programs read it: names in snake_case like everywhere, instants by `time`. What is
 * not there (no failure, no pin) is left out.
 */
export function explainView(
  key: StackKey,
  { current, decisions, failure, pin, pinned }: Explanation,
  time: (instant: Date) => string,
) {
  return {
    ...key,
    ...(current === undefined ? {} : { current: releaseView(current, time) }),
    ...(failure === undefined ? {} : {
      failure: {
        release: failure.release,
        failures: failure.failures,
        automatic_attempts: failure.automaticAttempts,
        last_failed_at: time(failure.lastFailedAt),
        message: failure.message,
      },
    }),
    ...(pin === undefined ? {} : {
      pin: {
        ...(pinned === undefined ? {} : { release: pinned.number }),
        revision: pin.revision,
        pinned_at: time(pin.pinnedAt),
      },
    }),
    decisions: decisions.map(({ firstAt, lastAt, ...decision }) => ({
      ...decision,
      first_at: time(firstAt),
      last_at: time(lastAt),
    })),
  };
}

function releaseView(
  release: NonNullable<Explanation["current"]>,
  time: (instant: Date) => string,
) {
  const { number, status, message, digest, revision, createdAt, finishedAt, images } = release;
  return {
    number,
    status,
    message,
    digest,
    repository: revision.source.name,
    reference: revision.reference,
    revision: revision.id,
    created_at: time(createdAt),
    ...(finishedAt === undefined ? {} : { finished_at: time(finishedAt) }),
    services: release.services.map(({ name, digest: service }) => ({ name, digest: service })),
    images,
  };
}
