import type { Random } from "../fakes/random.ts";

/** Whether one of so many times came up. */
export function chance(random: Random, one: number): boolean {
  return random(one) === 0;
}

/** One of them. */
export function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

/** One of two. */
export function either<A, B>(random: Random, one: A, other: B): A | B {
  return chance(random, 2) ? one : other;
}

/** One to `most` of what `make` makes. */
export function some<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: 1 + random(most) }, make);
}
