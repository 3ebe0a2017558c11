/** The contract of exports (store, rule 15; runtime, rule 22), checked for every export in the registry. */
import { parse } from 'csv-parse/sync'
import { type KyselyPlugin, PostgresQueryCompiler, type RootOperationNode } from 'kysely'
import { expect, test } from 'vitest'
import type { Cell, ExportSource } from '#operations/store/files/exports'
import * as exports from '#operations/store/files/exports'
import { foldHeader } from '#operations/store/imports/headers'
import { Context } from '#runtime/context'
import { WorkerStopping } from '#runtime/job'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import type { z } from '#runtime/schema'
import { overrideExtensions, testApp } from '#test/support/app'
import { readRows } from '#test/support/csv-reader'
import { type Query, type World, worlds } from '#test/support/exports'
import { type CallInput, type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-21T12:00:00Z')
const { extensions } = app.services
const isCluster = await app.database.isDistributed()
const every = Object.entries(worlds)

interface Begun {
  shop: Shop
  world: World
  source: ExportSource
  begun: string
  pathOf(path: string): string
}

async function prepareExport(name: string, rows: number): Promise<Begun> {
  const world = worlds[name]!
  const shop = await store(app)
  const begun = (await world.begin?.(shop)) ?? ''
  for (let n = 0; n < rows; n += 1) await world.make(shop, n, begun)
  return {
    shop,
    world,
    source: extensions.exports[name]!,
    begun,
    pathOf: (path) => path.replace(':id', begun),
  }
}

/** Requests the export through its operation. Returns the job id and the stored query. */
async function requestExport({ shop, world, pathOf }: Begun, query: Query = {}) {
  const answer = await shop.request('GET', pathOf(world.exportPath), {
    query: { ...world.exportQuery, ...query } as CallInput['query'],
  })
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
  const { jobId } = answer.body
  const [row] = await app.database.query<{ name: string; query: Record<string, unknown> }>(
    'select name, query from exports where id = $1',
    [jobId],
  )
  return { jobId: jobId as string, ...row! }
}

type Row = Record<string, Cell>

/** Reads the rows by header, batch by batch; calls `between` after each batch. */
async function read(
  { shop, source }: Begun,
  query: Record<string, unknown>,
  { atOnce, between }: { atOnce?: number; between?: (read: Row[]) => Promise<void> } = {},
) {
  const ctx = await shop.context()
  const header = await source.columns(ctx, query)
  const rows: Row[] = []
  const sizes: number[] = []
  for await (const batch of source.rows(ctx, query, header, atOnce)) {
    sizes.push(batch.length)
    for (const row of batch) {
      expect(row).toHaveLength(header.length)
      expect(row.filter((cell) => !isCell(cell))).toEqual([])
      rows.push(Object.fromEntries(row.map((cell, at) => [header[at]!, cell])))
    }
    await between?.(rows)
  }
  return { header, rows, sizes }
}

/** Allowed cell types of a file. */
const isCell = (cell: Cell): boolean =>
  cell === null || cell instanceof Date || ['string', 'number', 'boolean'].includes(typeof cell)

const listKeys = ({ world }: Begun, rows: readonly Row[]): Cell[] => rows.map((row) => row[world.key]!)

test('every export has a test world with its operation', async () => {
  expect(Object.keys(worlds).sort()).toEqual(Object.keys(extensions.exports).sort())
  for (const [name] of every) {
    const begun = await prepareExport(name, 0)
    expect((await requestExport(begun)).name).toBe(name)
  }
})

test.each(every)(
  '%s: an empty list has a header, and rows have as many cells as columns',
  async (name, world) => {
    const empty = await prepareExport(name, 0)
    const { query } = await requestExport(empty)
    const none = await read(empty, query)
    expect(none.rows).toEqual([])
    const some = await prepareExport(name, 3)
    const { header, rows } = await read(some, (await requestExport(some)).query)
    expect(header.join()).toBe(world.header)
    expect(rows.length).toBeGreaterThan(2)
    expect(world.header).toContain(none.header.join())
  },
)

test.each(every)(
  '%s: reading in pages returns the same rows as reading at once, even with equal instants',
  async (name) => {
    const begun = await prepareExport(name, 8)
    const { query } = await requestExport(begun)
    const whole = await read(begun, query)
    expect(whole.sizes).toHaveLength(1)
    expect(new Set(listKeys(begun, whole.rows)).size).toBeGreaterThan(3)
    for (const atOnce of [1, 2, 3]) {
      const paged = await read(begun, query, { atOnce })
      expect(paged.rows).toEqual(whole.rows)
      expect(Math.max(...paged.sizes)).toBeLessThanOrEqual(atOnce)
    }
  },
)

test.each(every)('%s: rows added during the export neither hide nor duplicate others', async (name) => {
  const begun = await prepareExport(name, 6)
  const { query } = await requestExport(begun)
  const before = await read(begun, query)
  let n = 6
  const meanwhile = await read(begun, query, {
    atOnce: 2,
    between: async () => {
      if (n < 12) await begun.world.make(begun.shop, n, begun.begun)
      n += 1
    },
  })
  const kept = meanwhile.rows.filter((row) => before.rows.some((each) => isSameRow(begun, each, row)))
  expect(listKeys(begun, kept)).toEqual(listKeys(begun, before.rows))
  const all = meanwhile.rows.map((row) => JSON.stringify(row))
  expect(new Set(all).size).toBe(all.length)
})

test.each(every)(
  '%s: an independent reader reads each cell back, and no two columns have one name',
  async (name) => {
    const begun = await prepareExport(name, 4)
    for (const forExcel of [false, true]) {
      const { jobId, query } = await requestExport(begun, { forExcel })
      const { header, rows } = await read(begun, query)
      await app.drainJobs()
      const mails = await listSandboxMail(app.database.root as never, { to: begun.shop.email })
      const file = mails.flatMap((mail) => mail.attachments).find((each) => each.fileName.includes(jobId))!
      const [first, ...lines] = readRows(Buffer.from(file.content).toString())
      expect(first).toEqual(header)
      expect(new Set(header.map(foldHeader)).size).toBe(header.length)
      expect(lines).toHaveLength(rows.length)
      for (const [n, line] of lines.entries()) {
        for (const [at, cell] of line.entries()) expectSame(cell, rows[n]![header[at]!]!, forExcel)
      }
    }
  },
)

function expectSame(written: string, cell: Cell, forExcel: boolean): void {
  if (cell instanceof Date) expect(Date.parse(written)).toBe(Math.floor(cell.getTime() / 1000) * 1000)
  else {
    const text = String(cell ?? '')
    expect([text, `'${text}`, ...(forExcel ? [`="${text}"`] : [])]).toContain(written)
    if (forExcel && typeof cell === 'string' && cell.startsWith('+55')) expect(written).toBe(`="${text}"`)
  }
}

/** How the file of an export is imported again; returns the counts of the import. */
const imports: Readonly<Record<string, (begun: Begun, csv: string) => Promise<unknown>>> = {
  async 'contacts-export'({ shop, pathOf }, csv) {
    const [columns, ...rows] = readRows(csv)
    const body = { columns, rows }
    const answer = await shop.request('POST', pathOf('/campaigns/lists/:id/import/csv'), { body })
    expect(answer.status).toBe(202)
    await app.drainJobs()
    const [counts] = await app.database.query(
      'select added, updated, unchanged, invalid from list_imports where store_id = $1',
      [shop.id],
    )
    return counts
  },
  async 'review-export'({ shop }, csv) {
    expect((await shop.request('POST', '/product-reviews/import', { body: { csv } })).status).toBe(202)
    await app.drainJobs()
    const notices = await app.database.query<{ data: Record<string, number> }>(
      `select data from notifications where store_id = $1 and type = 'review-import-completed'`,
      [shop.id],
    )
    const { imported, duplicates, failed } = notices[0]!.data
    return { added: imported, updated: 0, unchanged: duplicates, invalid: failed }
  },
}

test('every import of a file is tested with the export that it reads', () => {
  const paths = app.registry.operations.map(({ spec }) => spec.path)
  expect(paths.filter((path) => /import(?:\/csv)?$/.test(path))).toEqual([
    '/campaigns/lists/import/csv',
    '/campaigns/lists/:id/import/csv',
    '/product-reviews/import',
  ])
})

test.each(Object.entries(imports))(
  '%s: the file is imported again without change',
  async (name, importFile) => {
    const begun = await prepareExport(name, 6)
    const { jobId } = await requestExport(begun)
    await app.drainJobs()
    const mails = await listSandboxMail(app.database.root as never, { to: begun.shop.email })
    const file = mails.flatMap((mail) => mail.attachments).find((each) => each.fileName.includes(jobId))!
    const counts = await importFile(begun, Buffer.from(file.content).toString())
    expect(counts).toEqual({ added: 0, updated: 0, unchanged: 6, invalid: 0 })
  },
)

const isSameRow = ({ world }: Begun, a: Row, b: Row): boolean =>
  a[world.key] === b[world.key] && a.source_type === b.source_type

test.each(every)('%s: a killed export starts over and is sent once', async (name) => {
  const begun = await prepareExport(name, 5)
  const { jobId, query } = await requestExport(begun)
  const { header, rows } = await read(begun, query)
  const stop = new AbortController()
  let batches = 0
  const byTwo: ExportSource = {
    ...begun.source,
    async *rows(ctx, asked, columns) {
      for await (const batch of begun.source.rows(ctx, asked, columns, 2)) {
        yield batch
        batches += 1
        if (batches === 2) stop.abort(new WorkerStopping())
      }
    },
  }
  const ctx = await begun.shop.context()
  const { extensions: rewired } = overrideExtensions(app.registry, { exports: { [name]: byTwo } })
  const within = new Context({ ...app.services, extensions: rewired }, ctx.store, ctx.actor, ctx.log)
  await expect(exports.run(within, name, jobId, { isLast: false, signal: stop.signal })).rejects.toThrow(
    'the worker is stopping',
  )
  await app.drainJobs()
  const [mail, ...others] = await listSandboxMail(app.database.root as never, { to: begun.shop.email })
  expect(others).toEqual([])
  expect(mail!.attachments[0]!.fileName).toBe(`${name}-${jobId}.csv`)
  const [first, ...lines]: string[][] = parse(Buffer.from(mail!.attachments[0]!.content), { bom: true })
  expect(first).toEqual(header)
  const at = header.indexOf(begun.world.key)
  expect(lines.map((line) => line[at])).toEqual(listKeys(begun, rows).map(String))
})

test.each(every)('%s: rows of another store never appear', async (name) => {
  const other = await prepareExport(name, 3)
  const mine = await prepareExport(name, 0)
  expect((await read(mine, (await requestExport(mine)).query)).rows).toEqual([])
  if (!other.begun) return
  // Ids of another store do not match either.
  const { query } = await requestExport(other)
  const ctx = await mine.shop.context()
  const header = await other.source.columns(await other.shop.context(), query)
  for await (const batch of mine.source.rows(ctx, query, header)) expect(batch).toEqual([])
})

test.each(every)('%s: each filter returns the rows of the list in its order', async (name) => {
  const begun = await prepareExport(name, 8)
  const { world, shop, pathOf } = begun
  const { key, listed = key, listKey = key } = world
  const filters = world.filters(shop, begun.begun)
  const operation = app.registry.operations.find(({ spec }) => `/${spec.path.slice(1)}` === world.exportPath)!
  const fields = Object.keys((operation.spec.input!.query as z.AnyZodObject).shape)
  const asked = [...filters, world.exportQuery ?? {}].flatMap((each) => Object.keys(each))
  expect(fields.filter((field) => !asked.includes(field))).toEqual(['forExcel'])
  const all = (await read(begun, (await requestExport(begun)).query)).rows.length
  for (const filter of filters) {
    const { rows } = await read(begun, (await requestExport(begun, filter)).query)
    const about = `${name} ${JSON.stringify(filter)}`
    expect(rows.length, about).toBeGreaterThan(0)
    expect(rows.length, about).toBeLessThan(all)
    if (!world.lists) continue
    const list = await shop.request('GET', pathOf(world.lists), {
      query: { ...(world.listQuery ?? world.exportQuery), ...filter, limit: 50 } as CallInput['query'],
    })
    expect(list.status, `${about} ${JSON.stringify(list.body)}`).toBe(200)
    const shown: unknown[] = list.body.data.map((each: Record<string, unknown>) => each[listKey])
    const found = [...new Set(rows.map((row) => row[listed]))]
    if (world.isSortedOtherwise) expect(found.toSorted(), about).toEqual(shown.toSorted())
    else expect(found, about).toEqual(shown)
  }
})

const keyed = every.filter(([, { isCounted }]) => !isCounted)

test.each(keyed)('%s: an index provides the order', async (name) => {
  const begun = await prepareExport(name, 1)
  const { query } = await requestExport(begun)
  const nodes: RootOperationNode[] = []
  const noting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      nodes.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const ctx = await begun.shop.context()
  const watched = Object.create(ctx, { db: { value: ctx.db.withPlugin(noting) } }) as Context
  const header = await begun.source.columns(ctx, query)
  await begun.source.rows(watched, query, header)[Symbol.asyncIterator]().next()
  const node = nodes.at(-1)!
  const { sql, parameters } = new PostgresQueryCompiler().compileQuery(node, { queryId: name })
  const plan = await app.database.root.transaction().execute(async (tx) => {
    const run = (text: string, values: readonly unknown[] = []) =>
      tx.executeQuery<Record<string, unknown>>({
        sql: text,
        parameters: values,
        query: node,
        queryId: { queryId: name },
      })
    if (isCluster) await run(`set local citus.propagate_set_commands = 'local'`)
    for (const way of ['seqscan', 'bitmapscan', 'sort', 'hashagg']) await run(`set local enable_${way} = off`)
    const { rows } = await run(`explain (format json) ${sql}`, parameters)
    return findShardPlan((rows[0]!['QUERY PLAN'] as { Plan: Plan }[])[0]!.Plan)
  })
  const ways: string[] = []
  for (let node: Plan | undefined = plan; node; node = node.Plans?.[0]) ways.push(node['Node Type'])
  expect(ways[0]).toBe('Limit')
  expect(ways).not.toContain('Sort')
})

interface Plan {
  'Node Type': string
  Plans?: Plan[]
  /** Plan node of a cluster's coordinator. */
  'Distributed Query'?: { Job: { Tasks: { 'Remote Plan': { Plan: Plan }[][] }[] } }
}

/** The plan on the node that has the rows. */
function findShardPlan(plan: Plan): Plan {
  const distributed = plan['Distributed Query']
  return distributed ? distributed.Job.Tasks[0]!['Remote Plan'][0]![0]!.Plan : plan
}
