/** Checks `DATA_DIR` before its embedded database is opened; a problem is reported as one sentence. */
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

/** Entries that the system puts into a volume. */
const systemEntries = ['lost+found']

const toDatabaseFolder = (dataDir: string): string => join(dataDir, 'db')

/** Runs before anything is written. */
export function requireUsable(dataDir: string): void {
  const folder = toDatabaseFolder(dataDir)
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found) return
  if (found.isSymbolicLink()) {
    throw new SettingsError(
      `DATA_DIR: ${folder} is a link, which the embedded database does not follow: put the folder itself there, or set DATA_DIR to the one that it lies in`,
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
 * Whether all files are accessible, as in a volume that an orchestrator assigns to a pod's group. If one is not,
 * PGlite would fail in the middle of its start and leave files that lock the owner out.
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

/** Runs before root opens the folder itself: locks and database files of root would lock its owner out. */
export function requireOwner(dataDir: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid } = statSync(toDatabaseFolder(dataDir), { throwIfNoEntry: false }) ?? statSync(dataDir)
  if (uid === 0 || uid === findOwnerOfNewFiles(dataDir)) return
  throw new SettingsError(
    `DATA_DIR: ${dataDir} belongs to another user (uid ${uid}), whom files of root would lock out: run this as that user (sudo -u '#${uid}' …), or give it to root (chown -R 0 ${dataDir})`,
  )
}

/** Some file systems have no users and assign all files to one. */
function findOwnerOfNewFiles(dataDir: string): number {
  const probe = mkdtempSync(join(dataDir, 'db.owner-'))
  try {
    return statSync(probe).uid
  } finally {
    rmdirSync(probe)
  }
}

/** Files that every database has, in the order in which they used to be written: the last two last. */
const requiredFiles = ['global/pg_control', 'PG_VERSION', 'pg_ident.conf']

/**
 * Runs with the folder locked. Earlier versions marked a database while they created it; a killed process left a part
 * of it, or only the mark, and a complete database may have been put there since. A part is moved aside: nothing of it
 * is deleted.
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
