/** What is looked at in `DATA_DIR` before its embedded database is opened; what it cannot go on from is one sentence. */
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
import { hasDatabase } from './making.ts'

/** What the system puts into a volume. */
const ofTheSystem = ['lost+found']

const nameOf = (dataDir: string): string => join(dataDir, 'db')

/** Before anything is written. */
export function requireUsable(dataDir: string): void {
  const folder = nameOf(dataDir)
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
  if (uid === undefined || uid === 0 || found.uid === uid || isOpenToUs(folder)) return
  throw new SettingsError(
    `DATA_DIR: ${folder} belongs to another user (uid ${found.uid}): run this as that user, or give it to this one (chown -R ${uid} ${dataDir})`,
  )
}

/**
 * All of it, as a cluster gives a volume to a pod's group. Where a part is not, PGlite would end in the middle of its start and
 * leave files that lock the owner out.
 */
function isOpenToUs(folder: string): boolean {
  const { R_OK, W_OK, X_OK } = constants
  try {
    accessSync(folder, R_OK | W_OK | X_OK)
    return readdirSync(folder, { withFileTypes: true }).every((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return ofTheSystem.includes(entry.name) || isOpenToUs(path)
      accessSync(path, R_OK | W_OK)
      return true
    })
  } catch {
    return false
  }
}

/** Before root opens it itself: what it makes there, locks and files of the database, would lock their user out. */
export function requireOwner(dataDir: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid } = statSync(nameOf(dataDir), { throwIfNoEntry: false }) ?? statSync(dataDir)
  if (uid === 0 || uid === ownerOfNew(dataDir)) return
  throw new SettingsError(
    `DATA_DIR: ${dataDir} belongs to another user (uid ${uid}), whom files of root would lock out: run this as that user (sudo -u '#${uid}' …), or give it to root (chown -R 0 ${dataDir})`,
  )
}

/** File systems that know no users give all to one. */
function ownerOfNew(dataDir: string): number {
  const made = mkdtempSync(join(dataDir, 'db.owner-'))
  try {
    return statSync(made).uid
  } finally {
    rmdirSync(made)
  }
}

/** Files that a database has from its making on, in the order in which they used to be written: the last two last. */
const always = ['global/pg_control', 'PG_VERSION', 'pg_ident.conf']

/**
 * With the folder locked. Earlier versions marked a database that they were making; who was killed left a part of it, or
 * the mark alone, beside which a whole one may have been put since. A part is put aside: nothing of it is removed.
 */
export function settleUnfinished(dataDir: string): void {
  const folder = nameOf(dataDir)
  const mark = join(dataDir, 'db.unfinished')
  if (existsSync(mark)) {
    if (existsSync(folder) && !isWhole(folder)) renameSync(folder, unusedName(`${mark}.`))
    rmSync(mark, { force: true })
  }
  if (!existsSync(folder) || hasDatabase(folder)) return
  if (readdirSync(folder).every((name) => ofTheSystem.includes(name))) return
  throw new SettingsError(
    `DATA_DIR: ${folder} has files, but no database (PG_VERSION is missing): bring back what it lacks, or move it away to begin with an empty one`,
  )
}

const isWhole = (folder: string): boolean =>
  always.every((name) => (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0) > 0)

function unusedName(prefix: string): string {
  let number = 1
  while (existsSync(`${prefix}${number}`)) number += 1
  return `${prefix}${number}`
}
