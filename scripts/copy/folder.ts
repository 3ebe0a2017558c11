/**
 * Reads and writes backups. A backup is a folder with the rows of each table, the files, and `backup.json`, which
 * describes the backup and is written last. Only the owner may read the folder: it contains personal data, and the
 * secret key if the server stores that key next to its database.
 */
import { createReadStream, createWriteStream, existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { pipeline as piped } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { CopiedTable, Source } from '#db/copy/source'

export interface Backup extends Omit<Source, 'readRows'> {
  format: 1
  /** An instant in UTC. */
  madeAt: string
  files: { count: number; bytes: number }
  /** The fingerprint of the secret key that decrypts the credentials in the backup. */
  secret: string
}

const contents = 'backup.json'
const rowsFolder = (folder: string): string => join(folder, 'rows')
const rowsFile = (folder: string, table: string): string => join(rowsFolder(folder), `${table}.gz`)
export const getFilesFolder = (folder: string): string => join(folder, 'files')
export const getSecretFile = (folder: string): string => join(folder, 'secret-key')

/** Creates the folder, and returns a function that deletes it. Throws if the folder exists and is not empty. */
export async function makeBackupFolder(folder: string): Promise<() => Promise<void>> {
  const isNew = !existsSync(folder)
  if (!isNew && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0)) {
    throw new Error(`${folder} is not empty: name a folder that is not there yet`)
  }
  try {
    await mkdir(rowsFolder(folder), { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new Error(`${folder} cannot be made (${(error as NodeJS.ErrnoException).code}): name another`)
  }
  return async () => {
    const made = [rowsFolder(folder), getFilesFolder(folder), getSecretFile(folder), join(folder, contents)]
    for (const path of isNew ? [folder] : made) await rm(path, { recursive: true, force: true })
  }
}

/** Writes the rows of a table, several rows per line. */
export async function writeRows(folder: string, source: Source, table: CopiedTable): Promise<void> {
  async function* lines() {
    for await (const rows of source.readRows(table)) yield `${JSON.stringify(rows)}\n`
  }
  const file = createWriteStream(rowsFile(folder, table.name), { flags: 'wx', mode: 0o600 })
  await piped(Readable.from(lines()), createGzip({ level: 1 }), file)
}

/** Marks the backup as complete. */
export const writeContents = (folder: string, backup: Backup): Promise<void> =>
  writeFile(join(folder, contents), `${JSON.stringify(backup, null, 2)}\n`, { flag: 'wx', mode: 0o600 })

/** Opens a backup; throws one sentence if the folder is no backup or an unfinished one. */
export async function openBackup(folder: string): Promise<Backup & Source> {
  const path = join(folder, contents)
  if (!existsSync(path)) {
    throw new Error(`${folder} is no finished backup: ${contents}, which is written last, is not there`)
  }
  const backup = parseRow(await readFile(path, 'utf8'), path) as Backup
  if (backup.format !== 1) throw new Error(`${path} is of a later version: restore with the one that made it`)
  return { ...backup, readRows: ({ name }) => readRows(rowsFile(folder, name)) }
}

async function* readRows(path: string): AsyncIterable<readonly string[]> {
  try {
    // The pipeline's error is raised by the stream that is read.
    const text = pipeline(createReadStream(path), createGunzip(), () => {}).setEncoding('utf8')
    // A line may arrive in thousands of chunks.
    let line: string[] = []
    for await (const chunk of text) {
      const [end, ...begun] = (chunk as string).split('\n')
      line.push(end!)
      for (const next of begun) {
        yield parseRow(line.join(''), path) as string[]
        line = [next]
      }
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (typeof code !== 'string') throw error
    throw new Error(`${path} cannot be read (${code}): the backup is damaged`)
  }
}

function parseRow(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${path} is not what a backup has there: it is damaged`)
  }
}
