/**
 * Who may open the embedded database: a lock file in its folder. The files are numbered and the highest counts, so
 * that a lock left by a dead process is passed over by making the next number, which only one process can: deleting
 * and making one file anew would let a slow process delete the lock of a faster one.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { SettingsError } from '../settings-error.ts'

export type FolderRole = 'gateway' | 'worker' | 'command'

export interface FolderHolder {
  pid: number
  /** Tells a process from a later one with the same pid; empty where the system does not say. */
  born: string
  token: string
  role: FolderRole
  /** Where it serves the database, if it does. */
  socket: string | null
}

export interface FolderLock {
  /** Lets the next process have the folder. */
  release(): void
}

const prefix = 'db.lock.'
/** A holder writes its file right after making it; an empty one so old was left by a crash in between. */
const writtenWithinMs = 5000
/** Locks of this very process, which has one pid for all. */
const own = new Set<string>()

/** Takes the folder, or answers who has it. Of several at once one gets it. `mayTake` throws where this process may not. */
export async function takeFolder(
  folder: string,
  role: FolderRole,
  socket: string | null,
  mayTake: () => void = () => {},
): Promise<{ lock: FolderLock } | { holder: FolderHolder | null }> {
  for (;;) {
    const last = generations(folder).at(-1) ?? 0
    if (last > 0) {
      const found = readHolder(folder, last)
      if (found === 'gone') continue
      if (found === 'unwritten') return { holder: null }
      if (found && (await isAlive(found))) return { holder: found }
    }
    mayTake()
    const lock = makeLock(folder, last + 1, {
      pid: process.pid,
      born: bornAt(process.pid),
      token: randomUUID(),
      role,
      socket,
    })
    if (lock) return { lock }
  }
}

/** Null when another process was faster. */
function makeLock(folder: string, generation: number, holder: FolderHolder): FolderLock | null {
  const path = join(folder, `${prefix}${generation}`)
  let file: number
  try {
    // Others may read who has it: nothing in it is a secret.
    file = openSync(path, 'wx', 0o644)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return null
    throw error
  }
  writeSync(file, JSON.stringify(holder))
  closeSync(file)
  const all = generations(folder)
  if (all.at(-1) !== generation) {
    remove(path)
    return null
  }
  for (const older of all) if (older < generation) remove(join(folder, `${prefix}${older}`))
  own.add(holder.token)
  return {
    release() {
      own.delete(holder.token)
      // The file stays, held by nobody: were it deleted, a process that still looks at an older one could pass it.
      const open = openSync(path, 'w')
      writeSync(open, JSON.stringify({ ...holder, pid: 0 }))
      closeSync(open)
    },
  }
}

const generations = (folder: string): number[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b)

/** Null: nobody any more. */
function readHolder(folder: string, generation: number): FolderHolder | 'gone' | 'unwritten' | null {
  const path = join(folder, `${prefix}${generation}`)
  try {
    const text = readFileSync(path, 'utf8')
    try {
      return JSON.parse(text) as FolderHolder
    } catch {
      // biome-ignore lint/nursery/noJsRestrictedProperties: it compares with the time of a file
      return Date.now() - statSync(path).mtimeMs < writtenWithinMs ? 'unwritten' : null
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'gone'
    if (!isDenied(error)) throw error
    throw new SettingsError(
      `DATA_DIR: another user's command or server left ${path}, which this one may not read: where none of theirs runs any more, remove it`,
    )
  }
}

async function isAlive(holder: FolderHolder): Promise<boolean> {
  if (holder.pid === 0) return false
  if (holder.pid === process.pid && holder.born === bornAt(process.pid)) return own.has(holder.token)
  if (isRunning(holder.pid) && bornAt(holder.pid) === holder.born) return true
  // Another container has pids of its own; its socket in the shared folder answers all the same.
  return holder.socket !== null && (await isServed(holder.socket))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** When a process was started, on Linux: ticks since this boot. Empty for one that has ended and is yet to be collected. */
function bornAt(pid: number): string {
  if (process.platform !== 'linux') return ''
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return ''
    const ticks = fields[19]
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${ticks}`
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return ''
    throw error
  }
}

/** Whether somebody listens on a socket. */
export function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    // One that is another user's, where that matters, may stay: the highest counts.
    if (codeOf(error) !== 'ENOENT' && !isDenied(error)) throw error
  }
}

const isDenied = (error: unknown): boolean => ['EACCES', 'EPERM'].includes(codeOf(error) ?? '')
const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
