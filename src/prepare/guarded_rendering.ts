import { errors } from "../model/mod.ts";
import type { GuardedInputs } from "./guarded_inputs.ts";

/**
 * Renders what a guard looked at: compose reads the same files later, and another deployment of the
 * revision may decrypt one of them in between. Then `guard` and `render` run anew, until nothing
 * has changed; that ends, since files are decrypted once. `render` hands `requireSame` to compose.
 *
 * Throws what `guard` and `render` throw.
 */
export async function guardedRendering<T>(
  guard: () => Promise<GuardedInputs>,
  render: (guarded: GuardedInputs, requireSame: () => Promise<void>) => Promise<T>,
): Promise<T> {
  for (;;) {
    const guarded = await guard();
    let hasChanged = false;
    const requireSame = async () => {
      hasChanged = !await guarded.areSame();
      if (!hasChanged) return;
      throw errors.conflict(
        "another deployment decrypted a file of the commit while docker compose read it; the " +
          "project is rendered anew",
      );
    };
    try {
      return await render(guarded, requireSame);
    } catch (error) {
      if (!hasChanged) throw error;
    }
  }
}
