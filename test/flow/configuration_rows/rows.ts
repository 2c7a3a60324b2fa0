import type { Row } from "./row.ts";
import { BASIC_ROWS } from "./rows_basic.ts";
import { COMPOSE_FILES_ROWS } from "./rows_compose_files.ts";
import { DISCOVERY_ROWS } from "./rows_discovery.ts";
import { OBJECT_ROWS } from "./rows_objects.ts";
import { OVERRIDE_ROWS } from "./rows_overrides.ts";
import { REFUSED_ROWS } from "./rows_refused.ts";
import { ROLLOUT_ROWS } from "./rows_rollout.ts";
import { SOURCE_ROWS } from "./rows_sources.ts";
import { VARIABLE_ROWS } from "./rows_variables.ts";

/** Every row, of every table. */
export const ROWS: readonly Row[] = [
  ...BASIC_ROWS,
  ...COMPOSE_FILES_ROWS,
  ...ROLLOUT_ROWS,
  ...VARIABLE_ROWS,
  ...OBJECT_ROWS,
  ...DISCOVERY_ROWS,
  ...OVERRIDE_ROWS,
  ...REFUSED_ROWS,
  ...SOURCE_ROWS,
];
