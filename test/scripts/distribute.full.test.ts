/**
 * A single PostgreSQL with stores is distributed to a cluster: nothing is lost or duplicated, wherever the command is
 * killed. Needs workers.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { readTopology } from '#db/citus/topology'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { placements } from '#db/tables'
import { joinNodes } from '#scripts/cli/citus'
import { seedDemo } from '#scripts/seed/demo'
import { seedLoad } from '#scripts/seed/load'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { createDatabase, dropDatabase, withDatabase } from '#test/support/cluster'
import { until } from '#test/support/processes'

const nodes = inject('nodes')
const script = join(import.meta.dirname, '../../scripts/migrate.ts')

const open = (url: string): Database => {
  const database = openPostgres(url, { name: 'test', reads: 1, transactions: 2 })
  whenFileEnds(() => database.close())
  return database
}

/** A single PostgreSQL with the demo and bulk stores; returns its address and a key of the demo. */
async function filled(name: string): Promise<{ url: string; key: string }> {
  // From the plain template: none of the nodes has the extension in it yet.
  await createDatabase(nodes, name, 'template1')
  whenFileEnds(() => dropDatabase(nodes, name))
  const url = withDatabase(nodes[0]!, name)
  const database = openPostgres(url)
  await migrate(database)
  const app = await testApp({}, { database })
  const demo = await seedDemo(app.services, 'owner')
  const counts = { lists: 2, contacts: 50, campaigns: 6, optOuts: 10, orders: 20, conversions: 20, days: 90 }
  await seedLoad(app.services, { stores: 20, ...counts })
  await app.close()
  await database.close()
  return { url, key: demo.keys[0]!.key }
}

/** Row counts and contents of each table. */
async function readContents(database: Database): Promise<Record<string, string>> {
  const content: Record<string, string> = {}
  for (const table of Object.keys(placements).filter((each) => each !== 'directory')) {
    const columns = await database.query<{ name: string }>(
      'select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by 1',
      [table],
    )
    const row = columns.map(({ name }) => `"${name}"`).join(', ')
    const [found] = await database.query<{ n: number; sum: string }>(
      `select count(*)::int as n, sum(hashtextextended(row(${row})::text, 0)::numeric)::text as sum from "${table}"`,
      [],
    )
    content[table] = `${found!.n} ${found!.sum}`
  }
  return content
}

/** Indexes and references. */
async function readStructure(database: Database) {
  return {
    directory: await database.query('select distinct * from directory order by 1, 2, 3, 4', []),
    keys: await database.query(
      `select conrelid::regclass::text as owner, conname, pg_get_constraintdef(oid) as definition from pg_constraint
       where contype = 'f' and conrelid::regclass::text = any($1::text[]) order by 1, 2`,
      [Object.keys(placements)],
    ),
  }
}

function distribute(url: string): {
  child: ChildProcess
  ended: Promise<{ code: number | null; output: string }>
} {
  const child = spawn(process.execPath, [script, '--distribute'], {
    env: { ...process.env, DATABASE_URL: url, SECRET_KEY: 'a secret key that only the tests use, 123' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream!.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output })),
  )
  whenFileEnds(() => {
    child.kill('SIGKILL') // no effect if it has ended
    return ended
  })
  return { child, ended }
}

const countRows = async (database: Database, text: string): Promise<number> => {
  const [row] = await database.query<{ n: number }>(text, [])
  return row!.n
}
const distributed = `select count(*)::int as n from pg_dist_partition where partmethod = 'h'`
const keysWaiting = `select count(*)::int as n from distribution_keys`
const busy = `select count(*)::int as n from pg_stat_activity
  where datname = current_database() and application_name = 'merchant-migrate'`

/** kill -9 at the given progress; waits until the server has finished its last statement. */
async function killWhen(database: Database, url: string, isSoFar: () => Promise<boolean>): Promise<void> {
  const { child, ended } = distribute(url)
  await until(async () => (await isSoFar()) || (child.exitCode !== null && Promise.reject(await ended)))
  child.kill('SIGKILL')
  expect((await ended).code).toBeNull()
  await until(async () => (await countRows(database, busy)) === 0)
}

test.runIf(nodes.length > 1)(
  'stores move to the workers completely, though the command is killed twice',
  { timeout: 590_000 },
  async () => {
    const name = `merchant_moving_${process.pid}`
    const { url, key } = await filled(name)
    const database = open(url)
    const [content, order] = [await readContents(database), await readStructure(database)]
    const stores = await countRows(database, 'select count(*)::int as n from stores')
    expect(stores).toBeGreaterThan(20)
    await joinNodes(nodes.map((node) => withDatabase(node, name)))

    const server = openPostgres(url)
    await server.query('select 1', [])
    const refused = await distribute(url).ended
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^Servers are connected to this database/),
    })
    await server.close()
    await until(async () => (await countRows(database, `${busy.replace('migrate', 'api')}`)) === 0)
    expect(await readTopology(database)).toMatchObject({ isDistributed: false })

    await killWhen(database, url, async () => (await countRows(database, distributed)) >= 40)
    expect(await readTopology(database)).toMatchObject({ isUnfinished: true })
    expect(await readContents(database)).toEqual(content)
    await killWhen(database, url, async () => {
      const current = await readTopology(database)
      return current?.missing.length === 0 && (await countRows(database, keysWaiting)) < order.keys.length / 2
    })
    const last = await distribute(url).ended
    expect(last).toMatchObject({
      code: 0,
      output: expect.stringMatching(/Everything is distributed already/),
    })

    expect(await readTopology(database)).toEqual({ isDistributed: true, isUnfinished: false, missing: [] })
    expect(await readContents(database)).toEqual(content)
    expect(await readStructure(database)).toEqual(order)
    await expectNothingLeft(database, name)
    await expectServed(url, key)
  },
)

test.runIf(nodes.length > 1)(
  'two concurrent commands take turns: both succeed, and all foreign keys exist',
  { timeout: 590_000 },
  async () => {
    const name = `merchant_moving_twice_${process.pid}`
    const { url, key } = await filled(name)
    const database = open(url)
    const [content, order] = [await readContents(database), await readStructure(database)]
    await joinNodes(nodes.map((node) => withDatabase(node, name)))

    const both = [distribute(url), distribute(url)]
    const ends = await Promise.all(both.map(({ ended }) => ended))
    expect(ends).toEqual(
      Array(2).fill({ code: 0, output: expect.stringMatching(/Distributed|Everything is distributed/) }),
    )

    expect(await readTopology(database)).toEqual({ isDistributed: true, isUnfinished: false, missing: [] })
    expect(await readContents(database)).toEqual(content)
    expect(await readStructure(database)).toEqual(order)
    await expectServed(url, key)
  },
)

/** Neither hidden rows on the coordinator, nor a prepared transaction. */
async function expectNothingLeft(database: Database, name: string): Promise<void> {
  const left = await database.query(
    `select logicalrelid::text from pg_dist_partition
     where partmethod = 'h' and pg_relation_size(logicalrelid::oid) > 0`,
    [],
  )
  expect(left).toEqual([])
  for (const node of nodes) {
    const at = open(withDatabase(node, name))
    await until(async () => (await countRows(at, 'select count(*)::int as n from pg_prepared_xacts')) === 0)
  }
}

/** The same key works, and so does a write. */
async function expectServed(url: string, key: string): Promise<void> {
  const database = openPostgres(url)
  whenFileEnds(() => database.close())
  const app = await testApp({}, { database })
  const call = async (method: string, body?: object): Promise<number> => {
    const request = new Request('http://localhost/v1/campaigns/lists', {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return (await app.fetch(request, { ip: '127.0.0.1' })).status
  }
  expect([await call('GET'), await call('POST', { name: 'After the move' })]).toEqual([200, 201])
}
