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
import { z } from '#runtime/schema'
import { digestFiles } from './files.ts'

export interface Backup extends Omit<Source, 'readRows'> {
  format: 1
  /** An instant in UTC. */
  madeAt: string
  /** A backup of an earlier version has no checksum. */
  files: { count: number; bytes: number; sha256?: string }
  /** The fingerprint of the secret key that decrypts the credentials in the backup. */
  secret: string
}

const contents = 'backup.json'
const size = z.number().int().min(0)
const contentsShape = z
  .object({
    format: z.number(),
    madeAt: z.string(),
    secret: z.string(),
    migrations: z.array(z.string()),
    tables: z.array(z.object({ name: z.string() }).passthrough()),
    files: z.object({ count: size, bytes: size, sha256: z.string().optional() }),
  })
  .passthrough()
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
  const text = parseRow(await readFile(path, 'utf8'), path)
  if (!contentsShape.safeParse(text).success) throw new Error(describeDamage(path))
  const backup = text as Backup
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
    throw new Error(describeDamage(path))
  }
}

const describeDamage = (path: string): string => `${path} is not what a backup has there: it is damaged`

/** Throws one sentence if a file of the backup is missing, changed or added. Reads every file. */
export async function requireFiles(folder: string, { files }: Pick<Backup, 'files'>): Promise<void> {
  const found = await digestFiles(getFilesFolder(folder))
  if (found.count !== files.count || found.bytes !== files.bytes) {
    throw new Error(
      `Of ${files.count} files (${files.bytes} bytes) the backup has ${found.count} (${found.bytes} bytes): nothing is restored`,
    )
  }
  if (files.sha256 !== undefined && found.sha256 !== files.sha256) {
    throw new Error(`A file in ${getFilesFolder(folder)} was changed after the backup: nothing is restored`)
  }
}
