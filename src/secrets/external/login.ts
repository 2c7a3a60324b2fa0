import { isStackwrightError } from "../../model/mod.ts";
import type { Clock } from "../../system/mod.ts";

/** A token that was given for a while. */
export interface Grant {
  readonly token: string;
  readonly lifetimeSeconds: number;
}

interface Login {
  /** Begins to use the login; one user logs in at most once. */
  open(): LoginUser;
}

interface LoginUser {
  /** Runs `work` with the token. A refused token is not used again by other users. */
  with<T>(signal: AbortSignal, work: (token: string) => Promise<T>): Promise<T>;
}

/** Time before its end at which a token is no longer used. */
const MARGIN_MS = 60_000;

/** Keeps the token of `login` until shortly before its end. */
export function createLogin(clock: Clock, login: (signal: AbortSignal) => Promise<Grant>): Login {
  let kept: { readonly token: string; readonly until: number } | undefined;
  const token = async (signal: AbortSignal) => {
    const now = clock.now().getTime();
    if (kept !== undefined && now < kept.until) return kept.token;
    const grant = await login(signal);
    kept = { token: grant.token, until: now + grant.lifetimeSeconds * 1000 - MARGIN_MS };
    return grant.token;
  };
  return {
    open() {
      let own: Promise<string> | undefined;
      return {
        async with(signal, work) {
          own ??= token(signal);
          const mine = await own;
          try {
            return await work(mine);
          } catch (error) {
            if (isStackwrightError(error, "secret_unresolved") && kept?.token === mine) {
              kept = undefined;
            }
            throw error;
          }
        },
      };
    },
  };
}
