/** Largest rendered project in bytes; 20,000 published ports take less, and a few lines can make gigabytes. */
export const RENDER_LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * Bytes of memory for rendering: variables that repeat each other would take all there is; 60 MiB
 * are usual. Also for each build program, usually 100 MiB: buildx evaluates expressions in labels
 * and arguments, and policies beside a Dockerfile. The steps of a build run in the engine. And for
 * compose while it fetches images and changes containers: it reads answers of any length.
 */
export const RENDER_LIMIT_MEMORY = 1024 * 1024 * 1024;

/** Seconds of processor time for rendering, usually 0.1: files that include each other could take any time. */
export const RENDER_LIMIT_PROCESSOR_SECONDS = 30;

/** Milliseconds after which compose counts as hanging: rendering only reads files. */
export const RENDER_LIMIT_MS = 120_000;
