/**
 * SQL for the step that notes with each owner what its stack was deployed from: labels of volumes and
 * networks name the repository of their first deployment for ever, which releases may name no more.
 */
export const FORMER_REPOSITORIES: string = `
  ALTER TABLE owners ADD COLUMN found INTEGER;
  ${formerTable("repositories")}
  INSERT OR IGNORE INTO former_repositories
    SELECT context, name, repository FROM owners WHERE repository <> '';
  INSERT OR IGNORE INTO former_repositories
    SELECT r.context, r.name, r.facts ->> '$.revision.source.name'
    FROM releases r JOIN owners o ON o.context = r.context AND o.name = r.name
    WHERE coalesce(r.facts ->> '$.owner.source', r.facts ->> '$.configuration.source.name',
                   r.facts ->> '$.revision.source.name') = o.source
      AND (o.reference = ''
        OR coalesce(r.facts ->> '$.owner.reference', '') IN ('', o.reference));
  UPDATE owners SET repository = coalesce(
    (SELECT facts ->> '$.revision.source.name' FROM releases r
     WHERE r.context = owners.context AND r.name = owners.name ORDER BY number DESC LIMIT 1),
    repository);
  UPDATE owners SET found = (
    SELECT d.content ->> '$.policy' IS NOT NULL AND d.content ->> '$.repository' <> d.source
    FROM discovered d WHERE d.context = owners.context AND d.name = owners.name);
  UPDATE owners SET found = 0 WHERE found IS NULL AND EXISTS (
    SELECT 1 FROM stacks s WHERE s.context = owners.context AND s.name = owners.name
      AND s.release_id IS NOT NULL);
`;

/** SQL for the step that notes with each owner whose configurations' things went with a hand-over to it. */
export const FORMER_CONFIGURATIONS: string = formerTable("configurations");

/** SQL for a table of sources that owners had before; they are forgotten with the owner. */
function formerTable(of: "configurations" | "repositories"): string {
  return `CREATE TABLE former_${of} (
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    repository TEXT NOT NULL,
    PRIMARY KEY (context, name, repository),
    FOREIGN KEY (context, name) REFERENCES owners ON DELETE CASCADE
  ) STRICT;`;
}
