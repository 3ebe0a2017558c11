/**
 * Opens the embedded database of `DATA_DIR`, which any number of processes can use: one process, usually the server,
 * has the files open and serves the database on a socket; the others connect to that socket.
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describeWriteError, makeDataDir } from '../data-dir.ts'
import type { Database } from '../database.ts'
import { openPglite, openPostgres } from '../open.ts'
import { SettingsError } from '../settings-error.ts'
import { requireOwner, requireUsable, setAsideUnfinished } from './folder.ts'
import { acquireFolderLock, type FolderHolder, type FolderLock, type FolderRole, isServed } from './lock.ts'
import { serveSocket, socketPath } from './socket.ts'

export type { FolderRole } from './lock.ts'

export interface OpenedDatabase {
  database: Database
  /** Whether other processes use the database too, so that caches may be out of date. */
  shared: boolean
  /** Disconnects the clients of the socket, whose open transactions would delay `close`. */
  disconnectClients?(): Promise<void>
  close(): Promise<void>
}

/**
 * How long to wait for another process that is just starting, or for a short command that does not serve the database.
 */
const waitsMs = 30_000
const busyMs = 500

/**
 * Opens the database in `DATA_DIR`, or connects to the process that has it open. A second `gateway` is refused. A
 * `command` that opens the files does not serve them: other processes wait until it ends.
 */
export async function openEmbedded(
  { dataDir }: { dataDir: string },
  role: FolderRole = 'command',
): Promise<OpenedDatabase> {
  await withWriteMessages(dataDir, () => makeDataDir(dataDir))
  requireUsable(dataDir)
  const socket = role === 'command' ? null : socketPath(dataDir)
  const until = performance.now() + waitsMs
  for (;;) {
    const acquired = await withWriteMessages(dataDir, () =>
      acquireFolderLock(dataDir, role, socket, () => requireOwner(dataDir)),
    )
    if ('lock' in acquired) return openOwn(dataDir, socket, acquired.lock)
    const { holder } = acquired
    if (role === 'gateway' && holder?.role === 'gateway') throw inUseError(dataDir, holder, 'stop it first')
    const there = holder?.socket ? await connectTo(holder.socket) : null
    if (there) return there
    if (performance.now() > until) throw inUseError(dataDir, holder, 'wait for its end')
    await wait(50)
  }
}

/** Runs `work`; explains a failure to write, since PGlite itself does not report the reason. */
async function withWriteMessages<T>(dataDir: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const why = describeWriteError(error, dataDir)
    throw why === null ? error : new SettingsError(why)
  }
}

async function openOwn(dataDir: string, socket: string | null, lock: FolderLock): Promise<OpenedDatabase> {
  let database: Database | null = null
  try {
    database = await withWriteMessages(dataDir, () => {
      setAsideUnfinished(dataDir)
      return openPglite({ dataDir: join(dataDir, 'db') })
    })
    const served = socket === null ? null : await serveSocket(database.pglite!, socket, dataDir)
    const opened = database
    let closed: Promise<void> | undefined
    const cutOff = async (): Promise<void> => {
      closed ??= served?.close()
      await closed
    }
    return {
      database,
      shared: false,
      disconnectClients: cutOff,
      async close() {
        await cutOff()
        await opened.close()
        lock.release()
      },
    }
  } catch (error) {
    await database?.close()
    lock.release()
    throw error
  }
}

/**
 * Connects to the process that serves the database, with few connections, since they all share one session. Null if no
 * process serves it, or the process stopped before its first answer: the caller then checks the folder again.
 */
async function connectTo(socket: string): Promise<OpenedDatabase | null> {
  if (!(await isServed(socket))) return null
  const database = openPostgres('postgres://postgres@localhost/postgres', {
    reads: 1,
    transactions: 4,
    socket,
  })
  const answered = database.query('select 1', []).then(
    () => true,
    () => isServed(socket),
  )
  // After `busyMs` without an answer, another transaction is probably running: the socket counts as served.
  const isThere = await Promise.race([answered, wait(busyMs, true, { ref: false })])
  if (!isThere) {
    await database.close()
    return null
  }
  return { database, shared: true, close: () => database.close() }
}

function inUseError(dataDir: string, holder: FolderHolder | null, remedy: string): SettingsError {
  const who = holder ? `a ${holder.role} (process ${holder.pid})` : 'another process'
  return new SettingsError(
    `DATA_DIR: ${dataDir} is in use by ${who}: ${remedy}, or choose another DATA_DIR or a DATABASE_URL`,
  )
}
