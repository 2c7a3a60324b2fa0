/** SQL for the step that notes names of engines beside their ids, and in which order both were said. */
export const NAMES_OF_ENGINES: string = `
  ALTER TABLE engines ADD COLUMN hostname TEXT NOT NULL DEFAULT '';
  ALTER TABLE engines ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE engines ADD COLUMN said INTEGER NOT NULL DEFAULT 0;
  UPDATE engines SET hostname = substr(id, instr(id, ' ') + 1), id = substr(id, 1, instr(id, ' ') - 1)
    WHERE instr(id, ' ') > 0;`;
