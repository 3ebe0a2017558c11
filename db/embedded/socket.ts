/**
 * Serves the embedded database to other processes on a unix socket. All connections share PGlite's one session. A
 * connection holds the session from its first message until the statement and its transaction have ended; statements of
 * other connections and of this process wait. So no statement runs in another client's transaction.
 */
import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketHandler, type PGLiteSocketHandlerOptions } from '@electric-sql/pglite-socket'

/** The longest path of a socket; the system's limit is 104 bytes on macOS and 108 on Linux. */
const pathAtMost = 100
/** A client that is silent for so long inside a transaction is disconnected, since it blocks all others. */
const silentMs = 30_000

/** The path of the socket: inside the folder, or in the system's temporary folder if that path would be too long. */
export function socketPath(folder: string): string {
  const inside = join(folder, 'db.sock')
  if (Buffer.byteLength(inside) <= pathAtMost) return inside
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 20)
  return join(tmpdir(), `merchant-${process.getuid?.() ?? 'user'}-${name}`, 'db.sock')
}

/** Listens at `path`, on which no other process listens. Only this user may connect. */
export async function serveSocket(
  pglite: PGlite,
  path: string,
  folder: string,
): Promise<{ close(): Promise<void> }> {
  if (dirname(path) !== folder) makePrivate(dirname(path))
  rmSync(path, { force: true })
  const connections = new Set<Connection>()
  const server = createServer((socket) => {
    const connection = new Connection(pglite, socket, () => connections.delete(connection))
    connections.add(connection)
  })
  await listen(server, path)
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await Promise.all([...connections].map((each) => each.end()))
      await closed
    },
  }
}

/** Makes the socket's folder private: it is in the system's temporary folder, which other users can write to. */
function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { mode, uid } = lstatSync(folder)
  if (uid !== (process.getuid?.() ?? uid)) {
    throw new Error(`${folder} belongs to somebody else: choose a DATA_DIR with a shorter path`)
  }
  if (mode & 0o077) chmodSync(folder, 0o700)
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const mask = process.umask(0o177)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
    process.umask(mask)
  })
}

const messages = { terminate: 0x58, sync: 0x53, query: 0x51, parse: 0x50, startup: 0 }
/** After these messages the database is ready for the next statement. */
const readyAfter: readonly (number | undefined)[] = [messages.sync, messages.query, messages.startup]
const syncMessage = Uint8Array.of(messages.sync, 0, 0, 0, 4)

/** One client. PGlite's own handler splits its bytes into messages and calls `enqueue` for each. */
class Connection {
  readonly #pglite: PGlite
  readonly #socket: Socket
  readonly #handler: PGLiteSocketHandler
  readonly #closed: () => void
  /** The names of the client's prepared statements, to drop them at its end: the session outlives the client. */
  readonly #statements = new Set<string>()
  #last: Promise<void> = Promise.resolve()
  /** Releases the session; set while this connection holds it. */
  #leave: (() => void) | null = null
  #silence: NodeJS.Timeout | undefined
  #isGone = false
  #ending: Promise<void> | null = null

  constructor(pglite: PGlite, socket: Socket, closed: () => void) {
    this.#pglite = pglite
    this.#socket = socket
    this.#closed = closed
    // Replaces the package's own queue, which would let statements of this process into a client's transaction.
    const queryQueue = this as unknown as PGLiteSocketHandlerOptions['queryQueue']
    this.#handler = new PGLiteSocketHandler({ queryQueue, closeOnDetach: true })
    void this.#handler.attach(socket)
  }

  /** Disconnects the client: its open transaction is rolled back. */
  async end(): Promise<void> {
    await this.#handler.detach(true)
    await this.clearTransactionIfNeeded()
  }

  enqueue(_handler: number, message: Uint8Array, onData: (data: Uint8Array) => void): Promise<number> {
    const result = this.#last.then(() => this.#run(message, onData))
    this.#last = result.then(
      () => undefined,
      () => undefined, // the handler, which awaits `result`, closes the connection
    )
    return result
  }

  getQueueLength(): number {
    return 0
  }

  clearQueueForHandler(): void {
    this.#isGone = true
  }

  /** Called after the client has disconnected; never throws, since nobody awaits it. */
  clearTransactionIfNeeded(): Promise<void> {
    this.#isGone = true
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    await this.#last
    try {
      await this.#forget()
    } catch {
      this.#socket.destroy() // the database was closed meanwhile: nothing to clean up
    } finally {
      this.#give()
      this.#closed()
    }
  }

  async #run(message: Uint8Array, onData: (data: Uint8Array) => void): Promise<number> {
    const [kind] = message
    if (kind === messages.terminate || this.#isGone) return 0
    clearTimeout(this.#silence)
    await this.#take()
    // The client disconnected while it waited for the session: its message is dropped.
    if (this.#isGone) return 0
    if (kind === messages.parse) this.#noteStatement(message)
    let size = 0
    await this.#execute(message, (data) => {
      size += data.length
      onData(data)
    })
    if (readyAfter.includes(kind) && !this.#pglite.isInTransaction()) this.#give()
    else this.#silence = setTimeout(() => this.#socket.destroy(), silentMs)
    return size
  }

  /** Waits for the session in the same queue as transactions of this process. */
  #take(): Promise<void> {
    if (this.#leave) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const turn = this.#pglite._runExclusiveTransaction(
        () =>
          new Promise<void>((leave) => {
            this.#leave = leave
            resolve()
          }),
      )
      turn.catch(reject)
    })
  }

  #give(): void {
    clearTimeout(this.#silence)
    this.#leave?.()
    this.#leave = null
  }

  async #execute(message: Uint8Array, onRawData: (data: Uint8Array) => void): Promise<void> {
    await this.#pglite.runExclusive(() => this.#pglite.execProtocolRawStream(message, { onRawData }))
  }

  /** Resets the session after the client's end: rolls back and drops the client's prepared statements. */
  async #forget(): Promise<void> {
    const drop = (): void => {}
    if (this.#leave) {
      await this.#execute(syncMessage, drop)
      if (this.#pglite.isInTransaction()) await this.#execute(simpleQuery('rollback'), drop)
    }
    if (this.#statements.size === 0) return
    await this.#take()
    for (const name of this.#statements) {
      await this.#execute(simpleQuery(`deallocate "${name.replaceAll('"', '""')}"`), drop)
    }
  }

  /**
   * Notes the name in a Parse message: it follows type and length, up to a zero byte. Unnamed statements need no drop.
   */
  #noteStatement(message: Uint8Array): void {
    const end = message.indexOf(0, 5)
    const name = Buffer.from(message.subarray(5, end)).toString('utf8')
    if (name !== '') this.#statements.add(name)
  }
}

function simpleQuery(text: string): Uint8Array {
  const body = Buffer.from(`${text}\0`)
  const message = Buffer.alloc(5 + body.length)
  message[0] = messages.query
  message.writeInt32BE(4 + body.length, 1)
  body.copy(message, 5)
  return message
}
