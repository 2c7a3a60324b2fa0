import { compareVersions } from "../../docker/api_version.ts";
import type { HealthBody } from "../../docker/create_bodies.ts";
import { isObject, type JsonObject } from "../../compose/model.ts";
import { nanoseconds, numberOf } from "./units.ts";

/** The health check of a service, if it has one; otherwise the image's applies. */
export function healthBody(
  service: JsonObject,
  api: string,
): { readonly Healthcheck?: HealthBody } {
  const check = service["healthcheck"];
  if (!isObject(check)) return {};
  const { test } = check;
  // Older engines silently drop `StartInterval`.
  const knowsInterval = compareVersions(api, "1.44") >= 0;
  return {
    Healthcheck: {
      Test: check["disable"] === true ? ["NONE"] : Array.isArray(test) ? test.map(String) : null,
      Interval: nanoseconds(check["interval"]),
      Timeout: nanoseconds(check["timeout"]),
      StartPeriod: nanoseconds(check["start_period"]),
      ...(knowsInterval ? { StartInterval: nanoseconds(check["start_interval"]) } : {}),
      Retries: numberOf(check["retries"]) ?? 0,
    },
  };
}
