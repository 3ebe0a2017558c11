/** Puts the whole together: the only place that builds things. `npm start`, the worker alone and the tests use it. */

import type { Database } from '#db/database'
import { readyMs } from '#db/deadlines'
import type { FolderRole, OpenedDatabase } from '#db/embedded/open'
import { isMigrated } from '#db/migrate'
import { openPostgres } from '#db/open'
import { NotDirect } from '#db/postgres/sessions'
import { SettingsError } from '#db/settings-error'
// biome-ignore lint/style/noRestrictedImports: it gives the server its clock
import { type MovableClock, machineClock } from '#runtime/clock'
import { type Services, SystemContext } from '#runtime/context'
import { docsAnswer } from '#runtime/documents/docs'
import { frontAnswer, llmsText, waysFrom } from '#runtime/documents/front'
import { minuteMs } from '#runtime/durations'
import { Deadline, withinMs } from '#runtime/gateway/deadline'
import { Gateway, type GatewayOptions } from '#runtime/gateway/gateway'
import { sweepIdempotencyKeys } from '#runtime/gateway/idempotency'
import { KeyRing } from '#runtime/gateway/keys'
import { Limits, RateLimiter, SharedCounters } from '#runtime/gateway/rate-limit'
import { apiRoutes, type Fetch } from '#runtime/http/api'
import { callerAddress } from '#runtime/http/env'
import {
  answerInTime,
  corsRoutes,
  logBrokenAnswers,
  type PublicRoutes,
  pageRoutes,
  publicRoutes,
  refuseInvalidText,
} from '#runtime/http/public-routes'
import { openQueue } from '#runtime/jobs/queue'
import { Worker } from '#runtime/jobs/worker'
import { openAdapters } from '#runtime/ports/adapters'
import { heardAdapters, type Outcome, type Trouble } from '#runtime/ports/heard'
import { catalogOf } from '#runtime/registry/catalog'
import { operationsFolder } from '#runtime/registry/folder'
import type { Registry } from '#runtime/registry/loaded'
import { loadRegistry, RegistryError } from '#runtime/registry/registry'
import type { Logger } from './log.ts'
import { mendable, migrated } from './mendable.ts'
import { type Metrics, openMetrics } from './metrics.ts'
import { whyNotConnected } from './sentences.ts'
import type { Settings } from './settings.ts'

export interface App {
  readonly services: Services
  readonly registry: Registry
  readonly gateway: Gateway
  readonly worker: Worker
  readonly metrics: Metrics
  /** The whole server as a function; `env` carries the address of the client where there is one. */
  readonly fetch: Fetch
  /** The routes outside `/v1`. */
  readonly publicRoutes: readonly { method: string; path: string }[]
  /** Whether the database answers and nothing is left to migrate. */
  ready(): Promise<boolean>
  close(): Promise<void>
}

export interface AppOptions extends GatewayOptions {
  settings: Settings
  log: Logger
  /** Opened by the caller; otherwise as the settings say. */
  database?: Database
  clock?: MovableClock
  registry?: Registry
  /** Whether to look after the queue (dead jobs, old ones): every process but a short-lived one. */
  supervise?: boolean
  /** Other processes act on the caller's `database` too. */
  shared?: boolean
  /** What this process is to the embedded database (`openEmbedded`); default a command. */
  role?: FolderRole
}

const housekeepingMs = 10_000
const analyseEveryMs = 10 * minuteMs

export async function openApp(options: AppOptions): Promise<App> {
  const opening = options.database
    ? Promise.resolve(given(options.database, options.shared))
    : openDatabase(options.settings, options.role)
  // A process that reads its modules hears nothing meanwhile, for seconds where others are busy: a server would seem silent.
  if (options.settings.databaseUrl) await opening.catch(() => null)
  // Much of the embedded database's opening is the work of other threads.
  const [database, registry] = await Promise.allSettled([
    opening,
    options.registry ?? loadRegistry(operationsFolder, 'to answer'),
  ])
  if (database.status === 'rejected') throw registry.status === 'rejected' ? registry.reason : database.reason
  const opened = database.value
  try {
    if (registry.status === 'rejected') throw registry.reason
    return await assemble(options, registry.value, opened)
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function assemble(options: AppOptions, registry: Registry, opened: OpenedDatabase): Promise<App> {
  const { settings, log } = options
  const { shared } = opened
  // Nobody waits for the answers of a command as one waits for those of a server.
  const isCommand = !options.database && (options.role ?? 'command') === 'command'
  const database = isCommand ? opened.database.patient : opened.database
  if (!options.database) await migrated(settings, database.patient)
  const clock = options.clock ?? machineClock(await savedOffset(database, settings))
  const queue = await openQueue(database, registry.jobs, clock, {
    supervise: options.supervise ?? true,
    onError: (error) => log.error({ err: error }, 'job queue'),
  })
  const opening = await openAdapters(registry.wired.ports, { settings, database, clock })
  const names = { mail: schemeOf(settings.mailUrl), storage: schemeOf(settings.storageUrl) }
  const metrics = openMetrics(database, queue)
  for (const counter of registry.wired.counters) metrics.declare(counter)
  const { adapters, watch } = heardAdapters(
    opening,
    registry.wired.ports,
    names,
    clock,
    (outcome) => hear(outcome),
    metrics.observeProvider,
  )
  const keys = new KeyRing(database, clock, settings.keyLeaseMs, !shared)
  const counters = shared && database.kind === 'postgres' ? new SharedCounters(database) : null
  const services: Services = {
    settings,
    database,
    clock,
    adapters,
    queue,
    log,
    catalog: catalogOf(registry),
    wired: registry.wired,
    limits: new Limits(clock, counters),
    accessChanged: (storeId) => keys.changed(storeId),
    count: metrics.count,
    ending: new AbortController().signal,
  }
  const hearing = new SystemContext(services, log, 'health')
  const hear = async (outcome: Outcome): Promise<Trouble | null> => {
    try {
      return (await services.wired.heard?.(hearing, outcome)) ?? null
    } catch (error) {
      // Who called goes by what they were told; the next call is heard again.
      log.error({ err: error, port: outcome.port }, 'how a connection stands could not be written down')
      return null
    }
  }
  for (const gauge of services.wired.gauges) metrics.watch(gauge, new SystemContext(services, log, 'metrics'))
  const deadline = new Deadline(settings.requestTimeoutMs)
  const gateway = new Gateway(
    services,
    registry,
    {
      keys,
      metrics,
      deadline,
      addresses: new RateLimiter(clock, settings.rateLimitIp, 'ip', counters),
      stores: new RateLimiter(clock, settings.rateLimitStore, 'store', counters),
    },
    options,
  )
  const worker = new Worker(services, registry.jobs, metrics)
  const analysing = database.pglite ? setInterval(() => void analyse(services), analyseEveryMs) : null
  analysing?.unref()
  const housekeeping = setInterval(() => {
    for (const part of [
      ...keepHouse(services, keys, clock, counters),
      async () => watch((await services.wired.troubledProviders?.(hearing)) ?? []),
    ]) {
      part().catch((error) => log.error({ err: error }, 'housekeeping failed'))
    }
  }, housekeepingMs)
  housekeeping.unref()

  let asking: Promise<boolean> | null = null
  const ready = (): Promise<boolean> => {
    asking ??= isMigrated(database).finally(() => {
      asking = null
    })
    return withinMs(readyMs, asking)
  }
  const others = otherRoutes({ registry, services, metrics, worker, deadline, ready })
  for (const [path, surface] of Object.entries(registry.wired.surfaces)) {
    const taken = others.routes.find((route) => route.path === path || route.path.startsWith(`${path}/`))
    if (taken)
      throw new RegistryError([
        { file: 'surfaces', wrong: `${path} is ${taken.path}'s already`, remedy: 'choose another path' },
      ])
    others.all(path, async (c) => {
      const answer = await surface!.load()
      return answer({ gateway, registry }, c.req.raw, callerAddress(c, settings.trustProxy))
    })
  }
  return {
    services,
    registry,
    gateway,
    worker,
    metrics,
    fetch: apiRoutes(gateway, registry, settings.trustProxy, (request, env) => others.fetch(request, env)),
    publicRoutes: others.routes.filter(
      ({ path, method }) => path !== '*' && path !== '/*' && method !== 'OPTIONS',
    ),
    ready,
    async close() {
      clearInterval(housekeeping)
      deadline.close()
      if (analysing) clearInterval(analysing)
      await opened.cutOff?.()
      await keys.writeUses()
      await queue.stop()
      await adapters.close()
      await opened.close()
    },
  }
}

/** The database of the settings: a server, which is told the `name` of who connects, or the embedded one in `DATA_DIR`. */
export async function openDatabase(
  settings: Settings,
  role?: FolderRole,
  name?: string,
): Promise<OpenedDatabase> {
  if (!settings.databaseUrl) {
    // A server on PostgreSQL never needs it.
    const { openEmbedded } = await import('#db/embedded/open')
    return openEmbedded(settings, role)
  }
  const database = openPostgres(settings.databaseUrl, {
    ...(name ? { name } : {}),
    reads: settings.databaseReads,
    transactions: settings.databaseTransactions,
    isPooled: settings.databasePooler,
    deadlines: { statementMs: settings.statementTimeoutMs },
  })
  try {
    await database.verify()
  } catch (error) {
    await database.close()
    throw error instanceof NotDirect
      ? new SettingsError(error.message)
      : mendable(whyNotConnected(error, settings.databaseUrl), error)
  }
  return { database, shared: true, close: () => database.close() }
}

/** The caller's own, which the caller closes. */
const given = (database: Database, shared = database.kind === 'postgres'): OpenedDatabase => ({
  database,
  shared,
  close: async () => {},
})

const schemeOf = (url: string): string => url.split(':')[0]!

/** How far ahead of the machine the clock is, in milliseconds: one that the sandbox moved stays moved. */
export async function savedOffset(database: Database, settings: Settings): Promise<number> {
  if (!settings.sandbox) return 0
  const [row] = await database.query<{ value: number }>(
    `select value from server_settings where name = 'clock-offset-ms'`,
    [],
  )
  return row?.value ?? 0
}

/** PGlite has no autovacuum: without this its planner would know the tables only as they were when they were empty. */
async function analyse({ database, log }: Services): Promise<void> {
  try {
    await database.query('analyze', [])
  } catch (error) {
    log.error({ err: error }, 'the statistics of the embedded database were not brought up to date')
  }
}

/** Each by itself: what fails, as a look over all stores does while a node is gone, leaves the others alone. */
const keepHouse = (
  { database, settings }: Services,
  keys: KeyRing,
  clock: MovableClock,
  counters: SharedCounters | null,
): (() => Promise<void>)[] => [
  () => keys.writeUses(),
  async () => counters?.sweep(clock.ms()),
  async () => {
    // On a cluster it would wait for the node that is away, with locks on all others.
    if (database.awayStores.size === 0) await sweepIdempotencyKeys(database.root, clock.now())
  },
  async () => {
    if (clock.frozenAt === null) clock.offset = await savedOffset(database, settings)
  },
]

interface Parts {
  registry: Registry
  services: Services
  metrics: Metrics
  worker: Worker
  deadline: Deadline
  ready(): Promise<boolean>
}

const retrySoon = { 'retry-after': '5' }

/** The routes outside `/v1`. */
function otherRoutes({ registry, services, metrics, worker, deadline, ready }: Parts): PublicRoutes {
  const pages = registry.pages.filter((page) => services.settings.sandbox || !page.sandboxOnly)
  const hono = publicRoutes(services)
  corsRoutes(hono, pages)
  logBrokenAnswers(hono, services)
  answerInTime(hono, deadline)
  refuseInvalidText(hono)
  hono.get('/healthz', (c) => c.json({ status: 'ok' }))
  hono.get('/readyz', async (c) => {
    try {
      if (await ready()) return c.json({ status: 'ready' })
      return c.json({ status: 'not-ready', reason: 'migrations are missing' }, 503, retrySoon)
    } catch (error) {
      services.log.error({ err: error }, 'not ready')
      return c.json({ status: 'not-ready', reason: 'the database does not answer' }, 503, retrySoon)
    }
  })
  hono.get('/metrics', async (c) =>
    c.text(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )
  const { guides } = services.wired
  const { publicUrl } = services.settings
  const ways = waysFrom(guides, pages)
  hono.get('/', (c) => frontAnswer(ways, publicUrl, c.req.header('accept')))
  hono.get('/llms.txt', (c) => c.text(llmsText(ways, publicUrl, registry.sections)))
  for (const path of ['/docs', '/docs/*']) {
    hono.get(path, async (c) => (await docsAnswer(c.req.path, guides, c.req.raw.headers)) ?? c.notFound())
  }
  pageRoutes(hono, services, pages, worker)
  return hono
}
