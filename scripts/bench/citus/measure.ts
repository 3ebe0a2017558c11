/** `npm run bench -- citus`: what the extra hop of a cluster costs, beside one PostgreSQL on the same machine in one run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { inboxContactTier } from '#operations/inbox/handles'
import { openApp } from '#runtime/server/app'
import { silentLog } from '#runtime/server/log'
import { readSettings } from '#runtime/server/settings'
import { newId } from '#runtime/values/ids'
import { throwawayCitus } from '#scripts/cli/citus'
import { throwawayPostgres } from '#scripts/cli/postgres'
import type { Progress } from '#scripts/cli/progress'
import type { Call, JobMeasure } from '../area.ts'
import { startTarget, type Target } from '../child.ts'
import { openShops } from '../fixture.ts'
import { countedOneByOne, type Fixture, type OperationName } from '../kinds.ts'
import { type Load, sendLoad } from '../load.ts'
import { machine, type Results } from '../report.ts'
import campaigns from '../sizes/campaigns.ts'
import { gatewaySettings } from '../statements.ts'
import { fillStores } from '../tenants/fill.ts'
import { runInWorker } from '../worker-process.ts'
import { type Balance, balanceOf, isolate } from './shards.ts'

export interface CitusOptions {
  seconds: number
  rounds: number
  connections: number
  stores: number
  people: number
  jobs: number
  tenants: number
  contacts: number
}

export const measured = ['read', 'list', 'create'] as const satisfies readonly OperationName[]
export const placeNames = ['postgres', 'citus'] as const
type PlaceName = (typeof placeNames)[number]

export interface Line {
  place: PlaceName
  /** Of each operation, each round. */
  loads: Record<(typeof measured)[number], Load[]>
  campaign: { people: number; seconds: number; messagesPerSecond: number }
  /** Small jobs of all stores, queued one by one while one worker runs them. */
  jobs: { jobs: number; seconds: number; jobsPerSecond: number }
}

export interface CitusResults {
  startedAt: string
  machine: Results['machine']
  lines: Line[]
  balance: Balance & { stores: number; contacts: number }
  loadAverage: number
}

/** Where a server of this run has its database and its files. */
interface Place {
  name: PlaceName
  url: string
  dataDir: string
  home: string
}

export async function measureCitus(options: CitusOptions, progress: Progress): Promise<CitusResults> {
  const startedAt = new Date().toISOString()
  const single = await throwawayPostgres()
  const cluster = await throwawayCitus()
  const homes = placeNames.map((name) => mkdtempSync(join(tmpdir(), `merchant-${name}-`)))
  const remove = (): void => {
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  }
  process.once('exit', remove)
  try {
    const places: Place[] = [
      { name: 'postgres', url: single.url, dataDir: single.dataDir, home: homes[0]! },
      { name: 'citus', url: cluster.url, dataDir: cluster.coordinator.dataDir, home: homes[1]! },
    ]
    const lines = await measurePlaces(places, options, progress)
    progress.begin('citus: balance', 0)
    const { balance, version } = await balanced(places[1]!, options)
    return { startedAt, machine: machine(version), lines, balance, loadAverage: loadavg()[0]! }
  } finally {
    progress.end()
    await Promise.all([single.stop(), cluster.stop()])
    process.off('exit', remove)
    remove()
  }
}

/** Requests of both in turn, so that a machine that is busy for a while is so for both; then a campaign of each. */
async function measurePlaces(places: Place[], options: CitusOptions, progress: Progress): Promise<Line[]> {
  const gateways: { place: Place; fixture: Fixture; target: Target; line: Line }[] = []
  try {
    for (const place of places) {
      progress.begin(`${place.name}: filling`, 0)
      const { fixture, path } = await filled(place, options.stores)
      const loads = { read: [], list: [], create: [] }
      const campaign = { people: 0, seconds: 0, messagesPerSecond: 0 }
      const line = { place: place.name, loads, campaign, jobs: { jobs: 0, seconds: 0, jobsPerSecond: 0 } }
      gateways.push({ place, fixture, target: await startTarget('gateway', path), line })
    }
    progress.begin('requests', options.rounds * measured.length * gateways.length, 'measurements')
    for (let round = 0; round <= options.rounds; round += 1) {
      for (const name of measured) {
        for (const { place, fixture, target, line } of gateways) {
          const load = await sendLoad(target.url, name, fixture.shops, options.connections, options.seconds)
          // The first is the warm-up.
          if (round > 0) line.loads[name].push(load)
          progress.at(line.loads[name].length * gateways.length, `${name} of ${place.name}`)
        }
      }
    }
    for (const { place, target, line } of gateways) {
      progress.begin(`${place.name}: a campaign to ${options.people}`, 0)
      line.campaign = await sendCampaign(place, target, options.people)
    }
    for (const { place, fixture, line } of gateways) {
      progress.begin(`${place.name}: ${options.jobs} jobs`, 0)
      line.jobs = await runJobs(place, fixture, options.jobs)
    }
    return gateways.map(({ line }) => line)
  } finally {
    await Promise.all(gateways.map(({ target }) => target.stop()))
  }
}

async function filled(place: Place, stores: number): Promise<{ fixture: Fixture; path: string }> {
  const database = openPostgres(place.url, { reads: 1, transactions: 2 })
  try {
    await migrate(database)
    const shops = await openShops(database, 'bench', 1, stores)
    await database.query('vacuum analyze', [])
    const fixture: Fixture = {
      ...{ databaseUrl: place.url, folder: place.home, clients: 3 },
      ...{ shops, limited: [], limit: countedOneByOne, statements: {}, countsStatements: false },
    }
    const path = join(place.home, 'fixture.json')
    writeFileSync(path, JSON.stringify(fixture))
    return { fixture, path }
  } finally {
    await database.close()
  }
}

async function sendCampaign(place: Place, target: Target, people: number): Promise<Line['campaign']> {
  const env = gatewaySettings({ databaseUrl: place.url, folder: place.home, clients: 3 })
  const database = openPostgres(place.url, { reads: 1, transactions: 2 })
  try {
    const job = await prepared(database, env, people)
    const { ms } = await runInWorker(database, place.dataDir, env, job, () => send(target.url, job))
    const seconds = ms / 1000
    return { people, seconds, messagesPerSecond: people / seconds }
  } finally {
    await database.close()
  }
}

async function prepared(
  database: Database,
  env: ReturnType<typeof gatewaySettings>,
  people: number,
): Promise<JobMeasure> {
  const settings = { ...(await readSettings(env)), worker: false }
  const app = await openApp({ settings, log: silentLog(), database, supervise: false, shared: true })
  try {
    const unused = (): never => {
      throw new Error('A campaign is timed from its call')
    }
    const { services } = app
    const world = { database, services, timed: unused, told: unused, withWorker: unused }
    const given = await campaigns.prepare(world, people)
    await database.query('vacuum analyze', [])
    return campaigns.jobs!(given)[0]!
  } finally {
    await app.close()
  }
}

/** Of a conversation that nobody had: a worker reads of each whether there is anything to do. */
async function runJobs(place: Place, { shops }: Fixture, jobs: number): Promise<Line['jobs']> {
  const env = gatewaySettings({ databaseUrl: place.url, folder: place.home, clients: 3 })
  const database = openPostgres(place.url, { reads: 3, transactions: 2 })
  try {
    const settings = { ...(await readSettings(env)), worker: false }
    const app = await openApp({ settings, log: silentLog(), database, supervise: false, shared: true })
    const stores = await database.query<{ id: string }>('select id from stores order by id limit $1', [
      shops.length,
    ])
    const { queue } = app.services
    const some = async (first: number): Promise<void> => {
      for (let n = first; n < jobs; n += queuedAtOnce) {
        const envelope = { storeId: stores[n % stores.length]!.id, userId: null, requestId: 'bench' }
        await queue.send(inboxContactTier, { ...envelope, payload: { contactIds: [newId(n)] } })
      }
    }
    const done = {
      text: `select 1 as done where (select count(*) from pgboss.job where name = $1 and state = 'completed') >= $2`,
      values: [inboxContactTier.name, jobs],
    }
    try {
      const { ms } = await runInWorker(
        database,
        place.dataDir,
        env,
        { name: 'small jobs', done },
        async () => {
          await Promise.all(Array.from({ length: queuedAtOnce }, (_none, n) => some(n)))
        },
      )
      return { jobs, seconds: ms / 1000, jobsPerSecond: jobs / (ms / 1000) }
    } finally {
      await app.close()
    }
  } finally {
    await database.close()
  }
}

const queuedAtOnce = 16

async function send(url: string, { path, key, body }: Call): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
}

/** Many stores more, and what each node has of them; then the largest by itself. */
async function balanced(place: Place, { tenants, contacts }: CitusOptions) {
  const database = openPostgres(place.url, { reads: 1, transactions: 2 }).patient
  try {
    await fillStores(database, { stores: tenants, contacts, active: 1 })
    const before = await balanceOf(database)
    const isolated = await isolate(database)
    const [row] = await database.query<{ server_version: string }>('show server_version', [])
    const balance = { ...before, ...isolated, stores: tenants, contacts }
    return { balance, version: row!.server_version }
  } finally {
    await database.close()
  }
}
