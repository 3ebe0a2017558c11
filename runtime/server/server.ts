/** Starts the server, says where it is, and stops it without losing anything. */
import { createServer, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { finishMs, stopMs } from '#db/deadlines'
import { zonesApart } from '#runtime/database/zones'
import { prepareOpenApi } from '#runtime/documents/openapi'
import { Refusal } from '#runtime/errors'
import { toResponse } from '#runtime/gateway/answers'
import { answerBrokenRequests, closingAnswer, requestListener } from '#runtime/http/node-adapter'
import { refuseOpenSandbox } from '#runtime/http/sandbox-guard'
import { type App, openApp } from './app.ts'
import { openLog } from './log.ts'
import { isMendable, mendable } from './mendable.ts'
import { whyNotListening } from './sentences.ts'
import type { Settings } from './settings.ts'

export interface RunningServer {
  app: App
  server: Server
  url: string
  stop(): Promise<void>
}

const idleSweepMs = 100
/** A caller that asked so lately may ask again: the next answer tells its connection to leave, up to `lameMs`. */
const recentMs = 1_000
const lameMs = 2_000
/** What nobody waits for is left until a start is over: it has a processor to itself seldom enough. */
const settledMs = 10_000

export const serverOptions: ServerOptions = {
  // A request without a Host is refused in our own form (`runtime/http/node-adapter.ts`).
  requireHostHeader: false,
  // A request without a body has nothing to stream: its stream is over from the start, and Node need not end it.
  optimizeEmptyRequests: true,
  // Longer than load balancers keep theirs (60 seconds and less): who closes first must not do it under a request.
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
  // The port is taken first, so that links know it even where it was left to the system.
  let app: App | null = null
  const starting = new Refusal('unavailable', 'The server is starting', { 'retry-after': '1' })
  const answer = requestListener(
    (request, env) => (app ? app.fetch(request, env) : toResponse(closingAnswer(starting))),
    log,
    settings.host,
  )
  let askedAt = Number.NEGATIVE_INFINITY
  const toldToLeave = new WeakSet<object>()
  const server = createServer(serverOptions, (incoming, outgoing) => {
    askedAt = performance.now()
    if (stopping) {
      // Sent along with the last that is answered: done, it would be told to nobody.
      if (toldToLeave.has(incoming.socket)) return
      toldToLeave.add(incoming.socket)
      outgoing.setHeader('connection', 'close')
    }
    answer(incoming, outgoing)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  answerBrokenRequests(server, log)
  server.listen(settings.port, settings.host)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(mendable(whyNotListening(error, settings), error)))
    if (server.listening) resolve()
    else server.once('listening', () => resolve())
  })
  const { port } = server.address() as AddressInfo
  const url = `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`
  const known =
    settings.port === 0 && !process.env.PUBLIC_URL ? { ...settings, port, publicUrl: url } : settings
  try {
    const opened = await openApp({ settings: known, log, role: 'gateway' })
    await options.afterOpen?.(opened)
    app = opened // from here on it answers
  } catch (error) {
    server.close()
    throw error
  }
  if (settings.worker) await app.worker.start()
  prepareOpenApi(app.registry).catch((error) =>
    log.error({ err: error }, 'the OpenAPI document cannot be made: npm run check says of which operation'),
  )
  const { services } = app
  const comparing = setTimeout(() => {
    if (services.database.kind !== 'postgres') return
    tellOfZones(services).catch((error) => {
      if (!stopping) log.warn({ err: error }, 'zones could not be compared')
    })
  }, settledMs).unref()

  const letGo = async (): Promise<void> => {
    const late = setTimeout(() => server.closeAllConnections(), finishMs)
    try {
      // Busy connections are told to leave by their next answer. Closed at once, one that happens to have none under
      // way would be reset under the request that is on its way.
      const until = performance.now() + lameMs
      await sleep(idleSweepMs)
      while (performance.now() < Math.min(until, askedAt + recentMs) && sockets.size > 0)
        await sleep(idleSweepMs)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // A connection that is kept open ends with its next answer, or when it has nothing to answer.
      const sweep = setInterval(() => {
        server.closeIdleConnections()
        // Browsers keep a spare one, which the server does not count as idle.
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
      await Promise.all([letGo(), settings.worker ? app.worker.stop() : undefined])
      await app.close()
    })()
    return stopping
  }
  return { app, server, url, stop }
}

/** An operator alone can mend it, and nothing fails: a day of such a store would begin at another hour than its own. */
async function tellOfZones({ database, clock, log }: App['services']): Promise<void> {
  const { apart, missing } = await zonesApart(database.root, clock.now())
  if (apart.length === 0 && missing.length === 0) return
  log.warn(
    { apart, missing },
    "The database's time zones are not the server's: days of stores there are counted by other clocks, or fail. " +
      "Update the tzdata of the database's machine (or Node), then restart the database",
  )
}

/** What is left of the time to stop in when it is given up: the process has to end before somebody kills it. */
const lastMomentMs = 1_000

/**
 * Ends the process on SIGTERM and SIGINT once everything is put away, with 1 where that did not succeed in time; a
 * second signal ends it at once.
 */
export function stopOnSignals(stop: () => Promise<void>, log: App['services']['log']): void {
  let asked = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (asked) process.exit(1)
      asked = true
      setTimeout(() => {
        log.error('could not stop in time: something does not answer')
        process.exit(1)
      }, stopMs - lastMomentMs)
      stop().then(
        () => process.exit(0),
        (error) => {
          log.error({ err: error }, 'could not stop cleanly')
          process.exit(1)
        },
      )
    })
  }
}

/**
 * Ends the process where its embedded database has failed, as its server's end ends a database: who starts it again finds
 * all that was committed.
 */
export function endWithDatabase({ database, log }: Pick<App['services'], 'database' | 'log'>): void {
  void database.pglite?.whenFailed.then((failure) => {
    log.fatal({ err: failure }, failure.message)
    process.exit(1)
  })
}

/** One clear message for what a person can mend; the whole error for what they cannot. */
export function explainAndExit(error: unknown): never {
  if (isMendable(error)) console.error(error.message)
  else console.error(error)
  process.exit(1)
}
