/**
 * SQL for the step after which what is asked about all releases of a stack is read from a few bytes of
 * each: the digests of their services, and the volumes that were there before them (`taken`, sealed; NULL
 * until it is asked for with a release of an earlier version). `packed` has the services, compressed:
 * services that use the same files name each of them again.
 */
export const RELEASE_EXTRACTS = `
  ALTER TABLE releases ADD COLUMN digests TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE releases ADD COLUMN taken BLOB;
  ALTER TABLE release_contents ADD COLUMN packed BLOB;
  CREATE INDEX releases_named ON releases (name);
  UPDATE releases SET digests = (
    SELECT json_group_array(s.value ->> '$.digest')
    FROM release_contents c, json_each(c.services) s WHERE c.release_id = releases.id);
`;

/**
 * SQL for the step after which what releases claim of an engine is found without their models: by each
 * claim, of which names are keyed digests, since they may hold secrets. A release whose claims were noted
 * has one with no text.
 */
export const RELEASE_CLAIMS = `
  CREATE TABLE release_claims (
    claim      TEXT NOT NULL,
    release_id TEXT NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
    PRIMARY KEY (claim, release_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX claims_of_release ON release_claims (release_id);
`;
