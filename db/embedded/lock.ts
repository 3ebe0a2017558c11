/**
 * Decides which process may open the embedded database, by lock files in its folder. The files are numbered, and the
 * highest number is the lock. If its process is dead, another one creates the file with the next number, which only one
 * process can do. A single file that is deleted and created again would not work: a slow process could delete the lock
 * of a faster one.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { SettingsError } from '../settings-error.ts'

export type FolderRole = 'gateway' | 'worker' | 'command'

export interface FolderHolder {
  pid: number
  /**
   * The start time of the process, to distinguish it from a later one with the same pid; empty if it is unknown.
   */
  born: string
  token: string
  role: FolderRole
  /** The socket on which the process serves the database; null if it does not. */
  socket: string | null
}

export interface FolderLock {
  /** Releases the folder to the next process. */
  release(): void
}

const prefix = 'db.lock.'
/** An empty lock file older than this was left by a crash: a process writes the file right after creating it. */
const writtenWithinMs = 5000
/** The tokens of this process's locks: several locks of one process cannot be distinguished by the pid. */
const ownTokens = new Set<string>()

/**
 * Acquires the folder's lock, or returns its holder. Only one of several concurrent callers gets the lock. `mayTake`
 * throws if this process must not open the folder.
 */
export async function acquireFolderLock(
  folder: string,
  role: FolderRole,
  socket: string | null,
  mayTake: () => void = () => {},
): Promise<{ lock: FolderLock } | { holder: FolderHolder | null }> {
  for (;;) {
    const last = listGenerations(folder).at(-1) ?? 0
    if (last > 0) {
      const found = readHolder(folder, last)
      if (found === 'gone') continue
      if (found === 'unwritten') return { holder: null }
      if (found && (await isAlive(found))) return { holder: found }
    }
    mayTake()
    const lock = createLock(folder, last + 1, {
      pid: process.pid,
      born: getStartTime(process.pid),
      token: randomUUID(),
      role,
      socket,
    })
    if (lock) return { lock }
  }
}

/** Creates the lock file; null if another process was faster. */
function createLock(folder: string, generation: number, holder: FolderHolder): FolderLock | null {
  const path = join(folder, `${prefix}${generation}`)
  let file: number
  try {
    // Readable by other users, so that they see who holds the lock. It contains no secrets.
    file = openSync(path, 'wx', 0o644)
  } catch (error) {
    if (getCode(error) === 'EEXIST') return null
    throw error
  }
  writeSync(file, JSON.stringify(holder))
  closeSync(file)
  const all = listGenerations(folder)
  if (all.at(-1) !== generation) {
    remove(path)
    return null
  }
  for (const older of all) if (older < generation) remove(join(folder, `${prefix}${older}`))
  ownTokens.add(holder.token)
  return {
    release() {
      ownTokens.delete(holder.token)
      // The file stays, without a holder. If it were deleted, a process that has just read an older lock file could
      // create this number again.
      const open = openSync(path, 'w')
      writeSync(open, JSON.stringify({ ...holder, pid: 0 }))
      closeSync(open)
    },
  }
}

const listGenerations = (folder: string): number[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b)

/** Reads the holder of a lock file; null if the file no longer has a holder. */
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
    if (getCode(error) === 'ENOENT') return 'gone'
    if (!isDenied(error)) throw error
    throw new SettingsError(
      `DATA_DIR: another user's command or server left ${path}, which this one may not read: if no server or command of theirs is running, remove it`,
    )
  }
}

async function isAlive(holder: FolderHolder): Promise<boolean> {
  if (holder.pid === 0) return false
  if (holder.pid === process.pid && holder.born === getStartTime(process.pid))
    return ownTokens.has(holder.token)
  if (isRunning(holder.pid) && getStartTime(holder.pid) === holder.born) return true
  // The pid is meaningless if the holder runs in another container, but its socket in the shared folder answers.
  return holder.socket !== null && (await isServed(holder.socket))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return getCode(error) === 'EPERM'
  }
}

/** The start time of a process on Linux, in ticks since the boot; empty for a zombie. */
function getStartTime(pid: number): string {
  if (process.platform !== 'linux') return ''
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return ''
    const ticks = fields[19]
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${ticks}`
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(getCode(error) ?? '')) return ''
    throw error
  }
}

/** Whether a process listens on a socket. */
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
    // A file of another user may stay: only the highest number counts.
    if (getCode(error) !== 'ENOENT' && !isDenied(error)) throw error
  }
}

const isDenied = (error: unknown): boolean => ['EACCES', 'EPERM'].includes(getCode(error) ?? '')
const getCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
