/**
 * The embedded database of `DATA_DIR`, for any number of processes: one has it open, the server above all, and serves
 * it on a socket; the others connect there.
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { makeDataDir, whyNotWritten } from '../data-dir.ts'
import type { Database } from '../database.ts'
import { openPglite, openPostgres } from '../open.ts'
import { SettingsError } from '../settings-error.ts'
import { requireOwner, requireUsable, settleUnfinished } from './folder.ts'
import { type FolderHolder, type FolderLock, type FolderRole, isServed, takeFolder } from './lock.ts'
import { serveSocket, socketPath } from './socket.ts'

export type { FolderRole } from './lock.ts'

export interface OpenedDatabase {
  database: Database
  /** Other processes act on it too: what is remembered of it may be out of date. */
  shared: boolean
  /** Cuts off who came by the socket: what they have under way would be waited for. */
  cutOff?(): Promise<void>
  close(): Promise<void>
}

/** Another process may just be starting, or be a short command that does not serve the database. */
const waitsMs = 30_000
const busyMs = 500

/**
 * Opens the database in `DATA_DIR`, or connects to the process that has it open. A `gateway` is refused where another
 * one runs; a `command` keeps the folder to itself while it runs, and others wait for its end.
 */
export async function openEmbedded(
  { dataDir }: { dataDir: string },
  role: FolderRole = 'command',
): Promise<OpenedDatabase> {
  await told(dataDir, () => makeDataDir(dataDir))
  requireUsable(dataDir)
  const socket = role === 'command' ? null : socketPath(dataDir)
  const until = performance.now() + waitsMs
  for (;;) {
    const taken = await told(dataDir, () => takeFolder(dataDir, role, socket, () => requireOwner(dataDir)))
    if ('lock' in taken) return own(dataDir, socket, taken.lock)
    const { holder } = taken
    if (role === 'gateway' && holder?.role === 'gateway') throw inUse(dataDir, holder, 'stop it first')
    const there = holder?.socket ? await connected(holder.socket) : null
    if (there) return there
    if (performance.now() > until) throw inUse(dataDir, holder, 'wait for its end')
    await wait(50)
  }
}

/** The embedded database itself says nothing of why it cannot be there. */
async function told<T>(dataDir: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const why = whyNotWritten(error, dataDir)
    throw why === null ? error : new SettingsError(why)
  }
}

async function own(dataDir: string, socket: string | null, lock: FolderLock): Promise<OpenedDatabase> {
  let database: Database | null = null
  try {
    database = await told(dataDir, () => {
      settleUnfinished(dataDir)
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
      cutOff,
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
 * Few clients: behind them is one session anyway. Null where nobody serves it, or who did so stopped before the first
 * answer: the folder is looked at anew.
 */
async function connected(socket: string): Promise<OpenedDatabase | null> {
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
  // Who does not answer at once is in a transaction of somebody's, but there.
  const isThere = await Promise.race([answered, wait(busyMs, true, { ref: false })])
  if (!isThere) {
    await database.close()
    return null
  }
  return { database, shared: true, close: () => database.close() }
}

function inUse(dataDir: string, holder: FolderHolder | null, remedy: string): SettingsError {
  const who = holder ? `a ${holder.role} (process ${holder.pid})` : 'another process'
  return new SettingsError(
    `DATA_DIR: ${dataDir} is in use by ${who}: ${remedy}, or choose another DATA_DIR or a DATABASE_URL`,
  )
}
