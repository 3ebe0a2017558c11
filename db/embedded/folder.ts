/** Checks `DATA_DIR` before its embedded database is opened. A problem is thrown as one sentence for the operator. */
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { SettingsError } from '../settings-error.ts'
import { hasDatabase } from './create-database.ts'

/** Entries that the operating system creates in a volume. */
const systemEntries = ['lost+found']

const toDatabaseFolder = (dataDir: string): string => join(dataDir, 'db')

/** Throws if the database's folder cannot be used. Runs before anything is written. */
export function requireUsable(dataDir: string): void {
  const folder = toDatabaseFolder(dataDir)
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found) return
  if (found.isSymbolicLink()) {
    throw new SettingsError(
      `DATA_DIR: ${folder} is a link, which the embedded database does not follow: put the folder itself there, or set DATA_DIR to the folder that contains it`,
    )
  }
  if (!found.isDirectory()) {
    throw new SettingsError(`DATA_DIR: ${folder} is no folder: remove it, or choose another DATA_DIR`)
  }
  const uid = process.geteuid?.()
  if (uid === undefined || uid === 0 || found.uid === uid || isAccessible(folder)) return
  throw new SettingsError(
    `DATA_DIR: ${folder} belongs to another user (uid ${found.uid}): run this as that user, or give it to this one (chown -R ${uid} ${dataDir})`,
  )
}

/**
 * Whether this process may read and write all files, as it may in a volume that an orchestrator assigns to a pod's
 * group. Otherwise PGlite would fail in the middle of its start, and leave files that the folder's owner cannot use.
 */
function isAccessible(folder: string): boolean {
  const { R_OK, W_OK, X_OK } = constants
  try {
    accessSync(folder, R_OK | W_OK | X_OK)
    return readdirSync(folder, { withFileTypes: true }).every((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return systemEntries.includes(entry.name) || isAccessible(path)
      accessSync(path, R_OK | W_OK)
      return true
    })
  } catch {
    return false
  }
}

/** Throws if root opens another user's folder: that user could not use the locks and files that root creates. */
export function requireOwner(dataDir: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid } = statSync(toDatabaseFolder(dataDir), { throwIfNoEntry: false }) ?? statSync(dataDir)
  if (uid === 0 || uid === findOwnerOfNewFiles(dataDir)) return
  throw new SettingsError(
    `DATA_DIR: ${dataDir} belongs to another user (uid ${uid}), whom files of root would lock out: run this as that user (sudo -u '#${uid}' …), or give it to root (chown -R 0 ${dataDir})`,
  )
}

/** Finds out who owns new files, since some file systems assign all files to one user. */
function findOwnerOfNewFiles(dataDir: string): number {
  const probe = mkdtempSync(join(dataDir, 'db.owner-'))
  try {
    return statSync(probe).uid
  } finally {
    rmdirSync(probe)
  }
}

/** Files that every database has. Earlier versions wrote them in this order, so the last one exists if all do. */
const requiredFiles = ['global/pg_control', 'PG_VERSION', 'pg_ident.conf']

/**
 * Moves an unfinished database aside, without deleting it; the folder must be locked. Earlier versions wrote the mark
 * `db.unfinished` while they created a database, so a killed process left the mark, with or without a partial database.
 * A complete database may have been put there since; it stays.
 */
export function setAsideUnfinished(dataDir: string): void {
  const folder = toDatabaseFolder(dataDir)
  const mark = join(dataDir, 'db.unfinished')
  if (existsSync(mark)) {
    if (existsSync(folder) && !isComplete(folder)) renameSync(folder, unusedName(`${mark}.`))
    rmSync(mark, { force: true })
  }
  if (!existsSync(folder) || hasDatabase(folder)) return
  if (readdirSync(folder).every((name) => systemEntries.includes(name))) return
  throw new SettingsError(
    `DATA_DIR: ${folder} has files, but no database (PG_VERSION is missing): bring back what it lacks, or move it away to begin with an empty one`,
  )
}

const isComplete = (folder: string): boolean =>
  requiredFiles.every((name) => (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0) > 0)

function unusedName(prefix: string): string {
  let number = 1
  while (existsSync(`${prefix}${number}`)) number += 1
  return `${prefix}${number}`
}
