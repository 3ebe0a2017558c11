/**
 * Assembles the whole application: opens the database, builds the services, the gateway and the worker. `npm start`,
 * the separate worker and the tests use it.
 */

import type { Database } from '#db/database'
import { readyMs } from '#db/deadlines'
import type { FolderRole, OpenedDatabase } from '#db/embedded/open'
import { openPostgres } from '#db/open'
import { PoolerError } from '#db/postgres/sessions'
import { findUnreadyReason } from '#db/readiness'
import { SettingsError } from '#db/settings-error'
import { useFileAddresses } from '#db/used-addresses'
// biome-ignore lint/style/noRestrictedImports: it gives the server its clock
import { type MovableClock, machineClock } from '#runtime/clock'
import { type Services, SystemContext } from '#runtime/context'
import { answerDocs } from '#runtime/documents/docs'
import { answerFrontPage, listEntryPoints, renderLlmsText } from '#runtime/documents/front-page'
import { minuteMs } from '#runtime/durations'
import { Deadline, withTimeout } from '#runtime/gateway/deadline'
import { Gateway, type GatewayOptions } from '#runtime/gateway/gateway'
import { sweepIdempotencyKeys } from '#runtime/gateway/idempotency'
import { KeyRing } from '#runtime/gateway/keys'
import { Limits, RateLimiter, SharedCounters } from '#runtime/gateway/rate-limit'
import { apiRoutes, type Fetch } from '#runtime/http/api'
import { callerAddress } from '#runtime/http/env'
import {
  corsRoutes,
  enforceDeadline,
  logBrokenAnswers,
  type PublicRoutes,
  pageRoutes,
  publicRoutes,
  refuseInvalidText,
} from '#runtime/http/public-routes'
import { openQueue } from '#runtime/jobs/queue'
import { Worker } from '#runtime/jobs/worker'
import { openAdapters } from '#runtime/ports/adapters'
import {
  type ConnectionFailure,
  instrumentAdapters,
  type ProviderOutcome,
} from '#runtime/ports/instrumentation'
import { buildCatalog } from '#runtime/registry/catalog'
import { operationsFolder } from '#runtime/registry/folder'
import type { Registry } from '#runtime/registry/loaded'
import { loadRegistry, RegistryError } from '#runtime/registry/registry'
import type { Logger } from './log.ts'
import { type Metrics, openMetrics } from './metrics.ts'
import { findIssues } from './preflight.ts'
import type { Settings } from './settings.ts'
import { migrateDatabase, requireSecretKey, toSettingsError } from './startup-errors.ts'
import { describeConnectError } from './startup-messages.ts'

export interface App {
  readonly services: Services
  readonly registry: Registry
  readonly gateway: Gateway
  readonly worker: Worker
  readonly metrics: Metrics
  /** Answers any request to the server. `env` contains the client's address, if there is one. */
  readonly fetch: Fetch
  /** The routes outside `/v1`. */
  readonly publicRoutes: readonly { method: string; path: string }[]
  /** Whether the database answers and no migration is missing. */
  /** Why requests cannot be served now; null if they can. */
  findUnready(): Promise<string | null>
  close(): Promise<void>
}

export interface AppOptions extends GatewayOptions {
  settings: Settings
  log: Logger
  /** A database that the caller has opened; by default it is opened from the settings. */
  database?: Database
  clock?: MovableClock
  registry?: Registry
  /** Whether this process maintains the queue (dead and old jobs). Every process does, except a short-lived one. */
  supervise?: boolean
  /** Whether other processes also use the caller's `database`. */
  shared?: boolean
  /** The role of this process when it opens the embedded database (`openEmbedded`); default: `command`. */
  role?: FolderRole
}

const housekeepingMs = 10_000
const analyseEveryMs = 10 * minuteMs

export async function openApp(options: AppOptions): Promise<App> {
  const opening = options.database
    ? Promise.resolve(useDatabase(options.database, options.shared))
    : openDatabase(options.settings, options.role)
  // The connection comes first: loading modules blocks the event loop, for seconds on a busy machine, and the connect
  // timeout would expire.
  if (options.settings.databaseUrl) await opening.catch(() => null)
  // The embedded database opens mostly on other threads, so the modules are loaded at the same time.
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
  // A command may run statements for longer than a server.
  const isCommand = !options.database && (options.role ?? 'command') === 'command'
  const database = isCommand ? opened.database.longRunning : opened.database
  if (!options.database) {
    await migrateDatabase(settings, database.longRunning)
    await requireSecretKey(settings, database)
    if (!isCommand)
      for (const { message } of await findIssues(database, settings, machineClock())) log.warn(message)
  }
  const clock = options.clock ?? machineClock(await readClockOffset(database, settings))
  const queue = await openQueue(database, registry.jobs, clock, {
    supervise: options.supervise ?? true,
    onError: (error) => log.error({ err: error }, 'job queue'),
  })
  const opening = await openAdapters(registry.extensions.ports, { settings, database, clock })
  await useFileAddresses(database, opening.storage.baseUrl)
  const names = { mail: getScheme(settings.mailUrl), storage: getScheme(settings.storageUrl) }
  const metrics = openMetrics(database, queue)
  for (const counter of registry.extensions.counters) metrics.declare(counter)
  const { adapters, watch } = instrumentAdapters(
    opening,
    registry.extensions.ports,
    names,
    clock,
    (outcome) => recordOutcome(outcome),
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
    catalog: buildCatalog(registry),
    extensions: registry.extensions,
    limits: new Limits(clock, counters),
    accessChanged: (storeId) => keys.invalidateStore(storeId),
    count: metrics.count,
    abortSignal: new AbortController().signal,
  }
  const healthContext = new SystemContext(services, log, 'health')
  const recordOutcome = async (outcome: ProviderOutcome): Promise<ConnectionFailure | null> => {
    try {
      return (await services.extensions.providerOutcome?.(healthContext, outcome)) ?? null
    } catch (error) {
      // Not thrown: the provider's call itself has succeeded or failed independently. The next call is recorded again.
      log.error({ err: error, port: outcome.port }, 'recording connection health failed')
      return null
    }
  }
  for (const gauge of services.extensions.gauges)
    metrics.addGauge(gauge, new SystemContext(services, log, 'metrics'))
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
      ...housekeepingTasks(services, keys, clock, counters),
      async () => watch((await services.extensions.failingProviders?.(healthContext)) ?? []),
    ]) {
      part().catch((error) => log.error({ err: error }, 'housekeeping failed'))
    }
  }, housekeepingMs)
  housekeeping.unref()

  let asking: Promise<string | null> | null = null
  const findUnready = (): Promise<string | null> => {
    asking ??= findUnreadyReason(database).finally(() => {
      asking = null
    })
    return withTimeout(readyMs, asking)
  }
  const publicApp = buildPublicRoutes({ registry, services, metrics, worker, deadline, findUnready })
  for (const [path, surface] of Object.entries(registry.extensions.surfaces)) {
    const existing = publicApp.routes.find(
      (route) => route.path === path || route.path.startsWith(`${path}/`),
    )
    if (existing)
      throw new RegistryError([
        { file: 'surfaces', wrong: `${path} is ${existing.path}'s already`, remedy: 'choose another path' },
      ])
    publicApp.all(path, async (c) => {
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
    fetch: apiRoutes(gateway, registry, settings.trustProxy, (request, env) => publicApp.fetch(request, env)),
    publicRoutes: publicApp.routes.filter(
      ({ path, method }) => path !== '*' && path !== '/*' && method !== 'OPTIONS',
    ),
    findUnready,
    async close() {
      clearInterval(housekeeping)
      deadline.close()
      if (analysing) clearInterval(analysing)
      await opened.disconnectClients?.()
      await keys.flushUses()
      await queue.stop()
      await adapters.close()
      await opened.close()
    },
  }
}

/**
 * Opens the database that the settings name: a PostgreSQL server, or the embedded database in `DATA_DIR`. `name`: the
 * application name that the PostgreSQL server shows.
 */
export async function openDatabase(
  settings: Settings,
  role?: FolderRole,
  name?: string,
): Promise<OpenedDatabase> {
  if (!settings.databaseUrl) {
    // Loaded on demand: a server on PostgreSQL never needs it.
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
    throw error instanceof PoolerError
      ? new SettingsError(error.message)
      : toSettingsError(describeConnectError(error, settings.databaseUrl), error)
  }
  return { database, shared: true, close: () => database.close() }
}

/** Wraps a database that the caller has opened and will close. */
const useDatabase = (database: Database, shared = database.kind === 'postgres'): OpenedDatabase => ({
  database,
  shared,
  close: async () => {},
})

const getScheme = (url: string): string => url.split(':')[0]!

/** Reads how far the sandbox's clock is ahead of the machine's clock, in milliseconds; 0 without the sandbox. */
export async function readClockOffset(database: Database, settings: Settings): Promise<number> {
  if (!settings.sandbox) return 0
  const [row] = await database.query<{ value: number }>(
    `select value from server_settings where name = 'clock-offset-ms'`,
    [],
  )
  return row?.value ?? 0
}

/** Updates the planner's statistics. PGlite has no autovacuum, so they would stay those of empty tables. */
async function analyse({ database, log }: Services): Promise<void> {
  try {
    await database.query('analyze', [])
  } catch (error) {
    log.error({ err: error }, 'analyze of the embedded database failed')
  }
}

/**
 * The tasks that run periodically. They are independent: if one fails, for example because a node is down, the others
 * run.
 */
const housekeepingTasks = (
  { database, settings }: Services,
  keys: KeyRing,
  clock: MovableClock,
  counters: SharedCounters | null,
): (() => Promise<void>)[] => [
  () => keys.flushUses(),
  async () => counters?.sweep(clock.ms()),
  async () => {
    // Skipped while a node is down: the statement would wait for that node and meanwhile hold locks on all others.
    if (database.unreachableStores.size === 0) await sweepIdempotencyKeys(database.root, clock.now())
  },
  () => clock.follow(() => readClockOffset(database, settings)),
]

interface Parts {
  registry: Registry
  services: Services
  metrics: Metrics
  worker: Worker
  deadline: Deadline
  /** Why requests cannot be served now; null if they can. */
  findUnready(): Promise<string | null>
}

const retrySoon = { 'retry-after': '5' }

/** Builds the routes outside `/v1`. */
function buildPublicRoutes({
  registry,
  services,
  metrics,
  worker,
  deadline,
  findUnready,
}: Parts): PublicRoutes {
  const pages = registry.pages.filter((page) => services.settings.sandbox || !page.sandboxOnly)
  const hono = publicRoutes(services)
  corsRoutes(hono, services, pages)
  logBrokenAnswers(hono, services)
  enforceDeadline(hono, deadline)
  refuseInvalidText(hono, pages)
  hono.get('/healthz', (c) => c.json({ status: 'ok' }))
  hono.get('/readyz', async (c) => {
    try {
      const reason = await findUnready()
      if (reason === null) return c.json({ status: 'ready' })
      return c.json({ status: 'not-ready', reason }, 503, retrySoon)
    } catch (error) {
      services.log.error({ err: error }, 'not ready')
      return c.json({ status: 'not-ready', reason: 'the database does not answer' }, 503, retrySoon)
    }
  })
  hono.get('/metrics', async (c) =>
    c.text(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )
  const { guides } = services.extensions
  const { publicUrl } = services.settings
  const ways = listEntryPoints(guides, pages)
  hono.get('/', (c) => answerFrontPage(ways, publicUrl, c.req.header('accept')))
  hono.get('/llms.txt', (c) => c.text(renderLlmsText(ways, publicUrl, registry.sections)))
  for (const path of ['/docs', '/docs/*']) {
    hono.get(path, async (c) => (await answerDocs(c.req.path, guides, c.req.raw.headers)) ?? c.notFound())
  }
  pageRoutes(hono, services, pages, worker)
  return hono
}
