import type { Row } from "./row.ts";
import { BASIC_ROWS } from "./rows_basic.ts";
import { OBJECT_ROWS } from "./rows_objects.ts";
import { ROLLOUT_ROWS } from "./rows_rollout.ts";
import { VARIABLE_ROWS } from "./rows_variables.ts";

/** Every row, of every table. */
export const ROWS: readonly Row[] = [
  ...BASIC_ROWS,
  ...ROLLOUT_ROWS,
  ...VARIABLE_ROWS,
  ...OBJECT_ROWS,
];
