/** Starts the server, prints its address, and stops it gracefully. */
import { createServer, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { finishMs, stopMs } from '#db/deadlines'
import { compareZones } from '#runtime/database/zones'
import { prepareOpenApi } from '#runtime/documents/openapi'
import { ApiError } from '#runtime/errors'
import { toResponse } from '#runtime/gateway/answers'
import { answerOtherEvents, closingAnswer, requestListener } from '#runtime/http/node-adapter'
import { refuseOpenSandbox } from '#runtime/http/sandbox-guard'
import { type App, openApp } from './app.ts'
import { openLog } from './log.ts'
import type { Settings } from './settings.ts'
import { isUserError, toSettingsError } from './startup-errors.ts'
import { describeListenError } from './startup-messages.ts'

export interface RunningServer {
  app: App
  server: Server
  url: string
  stop(): Promise<void>
}

const idleSweepMs = 100
/**
 * While stopping, the server waits until no request has arrived for this long, but at most `drainMs`: an active client
 * may send another request, whose answer then closes the connection.
 */
const recentMs = 1_000
const drainMs = 2_000
/** Background work is delayed for this long after the start, when CPU time is scarce. */
const warmUpMs = 10_000

export const serverOptions: ServerOptions = {
  // A request without a Host is refused in our own form (`runtime/http/node-adapter.ts`).
  requireHostHeader: false,
  // Node treats a request without a body as ended from the start, which saves the work of ending its stream.
  optimizeEmptyRequests: true,
  // Longer than load balancers keep idle connections (60 seconds or less). If the server closed a connection first, the
  // load balancer could have sent a request on it already.
  keepAliveTimeout: 75_000,
}

/** Listens for requests; `afterOpen` runs once the database is up and before the first request. */
export async function startServer(
  settings: Settings,
  options: { afterOpen?(app: App): Promise<void> } = {},
): Promise<RunningServer> {
  refuseOpenSandbox(settings)
  const log = openLog(settings.logLevel)
  if (settings.sandboxInsisted) {
    log.warn(
      `SANDBOX=insist: whoever reaches ${settings.host} can move the clock, read all mail and play payments`,
    )
  }
  let stopping: Promise<void> | null = null
  // The server listens before the app is opened, so that links contain the port even if the system chose it.
  let app: App | null = null
  const starting = new ApiError('unavailable', 'The server is starting', { 'retry-after': '1' })
  const answer = requestListener(
    (request, env) => (app ? app.fetch(request, env) : toResponse(closingAnswer(starting))),
    log,
    settings.host,
  )
  let askedAt = Number.NEGATIVE_INFINITY
  const closingSockets = new WeakSet<object>()
  const server = createServer(serverOptions, (incoming, outgoing) => {
    askedAt = performance.now()
    if (stopping) {
      // A request that was pipelined after the connection's last one: its answer could not be delivered.
      if (closingSockets.has(incoming.socket)) return
      closingSockets.add(incoming.socket)
      outgoing.setHeader('connection', 'close')
    }
    answer(incoming, outgoing)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  answerOtherEvents(server, log)
  server.listen(settings.port, settings.host)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(toSettingsError(describeListenError(error, settings), error)))
    if (server.listening) resolve()
    else server.once('listening', () => resolve())
  })
  const { port } = server.address() as AddressInfo
  const url = `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`
  const effectiveSettings =
    settings.port === 0 && !process.env.PUBLIC_URL ? { ...settings, port, publicUrl: url } : settings
  try {
    const opened = await openApp({ settings: effectiveSettings, log, role: 'gateway' })
    await options.afterOpen?.(opened)
    app = opened // requests are answered from now on
  } catch (error) {
    server.close()
    throw error
  }
  if (settings.worker) await app.worker.start()
  prepareOpenApi(app.registry).catch((error) =>
    log.error({ err: error }, 'building the OpenAPI document failed: npm run check names the operation'),
  )
  const { services } = app
  const comparing = setTimeout(() => {
    if (services.database.kind !== 'postgres') return
    warnAboutZones(services).catch((error) => {
      if (!stopping) log.warn({ err: error }, 'time zone comparison failed')
    })
  }, warmUpMs).unref()

  const closeConnections = async (): Promise<void> => {
    const late = setTimeout(() => server.closeAllConnections(), finishMs)
    try {
      // Busy connections close with their next answer. Idle ones are not closed at once, since a request may be on its
      // way.
      const until = performance.now() + drainMs
      await sleep(idleSweepMs)
      while (performance.now() < Math.min(until, askedAt + recentMs) && sockets.size > 0)
        await sleep(idleSweepMs)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // A kept-alive connection ends with its next answer, or is closed here once it is idle.
      const sweep = setInterval(() => {
        server.closeIdleConnections()
        // Browsers keep a spare connection without a request, which Node does not count as idle.
        for (const each of sockets) if (each.bytesRead === 0) each.destroy()
      }, idleSweepMs)
      await closed
      clearInterval(sweep)
    } finally {
      clearTimeout(late)
    }
  }
  const stop = (): Promise<void> => {
    clearTimeout(comparing)
    stopping ??= (async () => {
      await Promise.all([closeConnections(), settings.worker ? app.worker.stop() : undefined])
      await app.close()
    })()
    return stopping
  }
  return { app, server, url, stop }
}

/**
 * Warns if the database's time zones differ from the server's. Only an operator can correct that, and nothing fails: in
 * such a zone, the days of a store would begin at a wrong hour.
 */
async function warnAboutZones({ database, clock, log }: App['services']): Promise<void> {
  const { differing, missing } = await compareZones(database.root, clock.now())
  if (differing.length === 0 && missing.length === 0) return
  log.warn(
    { apart: differing, missing },
    "The database's time zones are not the server's: days of stores there are counted by other clocks, or fail. " +
      "Update the tzdata of the database's machine (or Node), then restart the database",
  )
}

/** Time reserved for exiting: if a stop takes too long, the process must exit before the orchestrator kills it. */
const exitReserveMs = 1_000

/**
 * Stops gracefully on SIGTERM and SIGINT. Exits with code 1 if stopping takes too long, and at once on a second signal.
 */
export function stopOnSignals(stop: () => Promise<void>, log: App['services']['log']): void {
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(1)
      isStopping = true
      setTimeout(() => {
        log.error('graceful shutdown timed out')
        process.exit(1)
      }, stopMs - exitReserveMs)
      stop().then(
        () => process.exit(0),
        (error) => {
          log.error({ err: error }, 'graceful shutdown failed')
          process.exit(1)
        },
      )
    })
  }
}

/**
 * Exits the process if its embedded database has failed, as if a database server had crashed. After a restart all
 * committed data is there.
 */
export function exitOnDatabaseFailure({ database, log }: Pick<App['services'], 'database' | 'log'>): void {
  void database.pglite?.whenFailed.then((failure) => {
    log.fatal({ err: failure }, failure.message)
    process.exit(1)
  })
}

/** Prints only the message of an error that the operator can correct, the whole error otherwise, and exits. */
export function explainAndExit(error: unknown): never {
  if (isUserError(error)) console.error(error.message)
  else console.error(error)
  process.exit(1)
}
