import { clip, type Deployment } from "../model/mod.ts";
import type { Report } from "./problem_sink.ts";
import { checkSideFile } from "./source_path.ts";
import { sideFileBase } from "./side_files.ts";
import { isProjectName, LONGEST_NAME, normaliseName } from "./project_name.ts";
import { accept } from "./checked.ts";

/** The rules that need more than one field, for a complete deployment, overrides merged into it. */
export function checkDeployment(deployment: Deployment, report: Report): void {
  checkName(deployment, report);
  const { restartLimit, restartWindowSeconds } = deployment.reconciliation;
  if (restartLimit > 0 && restartWindowSeconds === 0) {
    report(
      "reconciliation.restart_window",
      "expected more than 0s while restart_limit is not 0; set restart_limit: 0 for no limit",
    );
  }
  // A discovered stack brings its own working directory; its files are checked after the discovery.
  if (!deployment.autoDiscovery.enabled) checkSideFilesInside(deployment, report);
}

function checkName({ name, autoDiscovery }: Deployment, report: Report): void {
  if (name === "") {
    if (!autoDiscovery.enabled) {
      report("name", 'the key "name" is required, unless auto_discovery is enabled');
    }
    return;
  }
  if (isProjectName(name)) return;
  const [told, suggestion] = [JSON.stringify(clip(name, 60)), normaliseName(name)];
  report(
    "name",
    `${told} is no compose project name: lower-case letters, digits, ` +
      `- and _, starting with a letter or digit` +
      (name.length > LONGEST_NAME ? `, at most ${LONGEST_NAME}` : "") +
      (suggestion === "" ? "" : `; write "${suggestion}"`),
  );
}

function checkSideFilesInside(deployment: Deployment, report: Report): void {
  const lists = {
    env_files: deployment.envFiles,
    external_secrets_files: deployment.externalSecretsFiles,
  };
  for (const [key, files] of Object.entries(lists)) {
    for (const [index, file] of files.entries()) {
      accept(checkSideFile(file, sideFileBase(deployment, file)), `${key}[${index}]`, report);
    }
  }
}
