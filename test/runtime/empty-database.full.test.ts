/** PGlite's prepopulated database replaces PGlite's own `initdb`: the result is the same. */
import { PGlite } from '@electric-sql/pglite'
import { dataDir } from '@electric-sql/pglite-prepopulatedfs'
import { expect, test } from 'vitest'

const compared = {
  // Another version means files that this PostgreSQL cannot read.
  versions: `select version(), pg_control_version, catalog_version_no from pg_control_system()`,
  databases: `select datname, datcollate, datctype, encoding, datlocprovider from pg_database order by 1`,
  roles: `select rolname, rolsuper, rolcanlogin, rolpassword is null as open from pg_authid order by 1`,
  // Each start sets the time zone and the buffer size, independent of the program that created the database.
  settings: `select name, setting from pg_settings
    where source = 'configuration file' and name !~* 'timezone|shared_buffers' order by 1`,
  collations: `select collname, collprovider, collencoding from pg_collation order by 1, 3`,
  functions: `select count(*)::int, sum(hashtext(oid || proname || coalesce(prosrc, ''))) from pg_proc`,
  types: `select count(*)::int, sum(hashtext(oid || typname || typinput)) from pg_type`,
  relations: `select relname, relkind::text, relnatts from pg_class where relname !~ '^pg_toast' order by 1`,
  parsers: `select cfgname, cfgparser::int from pg_ts_config order by 1`,
}

const read = async (options: { loadDataDir?: Blob }) => {
  const pglite = await PGlite.create('memory://', {
    ...options,
    initDbStartParams: ['-c', 'shared_buffers=16MB'],
  })
  const found: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(compared)) found[name] = (await pglite.query(text)).rows
  await pglite.close()
  return found
}

test('the prepopulated database is what initdb creates', async () => {
  const published = await read({ loadDataDir: await dataDir() })
  const made = await read({})
  for (const name of Object.keys(compared)) expect(published[name], name).toEqual(made[name])
  expect(published.versions).toHaveLength(1)
})
