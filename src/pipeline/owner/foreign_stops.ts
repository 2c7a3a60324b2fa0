import { labelsOf, servicesOf } from "../../compose/mod.ts";
import { readJobLabels } from "../../config/mod.ts";
import { formatOwner, isSameOwner, ownerFrom, type Release } from "../../model/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import { recordedOwner } from "../../record/mod.ts";
import type { PipelineParts } from "../parts.ts";

/**
 * Warns of jobs that stop services of a stack which another source deploys: each of their runs is
 * refused when it is due, as {@link runJob} says, and until then nobody would know.
 */
export function warnOfForeignStops(
  { ledger, log }: Pick<PipelineParts, "ledger" | "log">,
  { key, configuration }: Pick<Target, "key" | "configuration">,
  { model }: Pick<Release, "model">,
): void {
  const asked = ownerFrom(configuration);
  for (const [service, definition] of Object.entries(servicesOf(model))) {
    const own = { project: key.name, service };
    const { enabled, stopServices = [] } = readJobLabels(labelsOf(definition), own) ?? {};
    for (const project of enabled ? new Set(stopServices.map((each) => each.project)) : []) {
      const owner = project === key.name
        ? undefined
        : recordedOwner(ledger, { ...key, name: project });
      if (owner === undefined || isSameOwner(owner, asked)) continue;
      const text = `service ${service}: its job stops services of ${project}, which runs from ` +
        `${
          formatOwner(owner)
        }: its runs are refused, since a job stops what is deployed from its own ` +
        "source; take that out of stop_services, or deploy both from one repository";
      log.warning(text, { stack: key.name, context: key.context });
    }
  }
}
