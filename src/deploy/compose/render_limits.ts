/**
 * Most that is read of a rendered project: a few lines can become gigabytes, as ranges of ports do. Twenty
 * thousand published ports are less.
 */
export const RENDER_LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * Memory for rendering: variables that repeat each other take all there is otherwise. 60 MiB are
 * usual. Also for each program that builds, 100 MiB there: buildx evaluates expressions in labels and
 * arguments, and policies beside a Dockerfile. The steps of a build run in the engine.
 */
export const RENDER_LIMIT_MEMORY = 1024 * 1024 * 1024;

/**
 * Time on processors for rendering: a few files that include each other several times over take
 * any time. A tenth of a second is usual.
 */
export const RENDER_LIMIT_PROCESSOR_SECONDS = 30;

/** Rendering reads files and nothing else; a compose that takes longer hangs, in milliseconds. */
export const RENDER_LIMIT_MS = 120_000;
