/** Creates the database in an empty folder from PGlite's prepopulated one. A crash leaves no partial database. */
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

/** The file by which PGlite, and `hasDatabase`, detect a database. Errors other than a missing file are thrown. */
const version = 'PG_VERSION'

export const hasDatabase = (folder: string): boolean =>
  statSync(join(folder, version), { throwIfNoEntry: false }) !== undefined

export async function loadEmptyDatabase(): Promise<Blob> {
  const prepopulated = await import('@electric-sql/pglite-prepopulatedfs')
  return prepopulated.dataDir()
}

/**
 * Creates the database in a folder with the reserved name `.<name>.making`, and renames it when it is complete. So a
 * killed process never leaves a partial database under the real name. `folder` must be missing or empty.
 */
export async function createDatabase(folder: string): Promise<void> {
  const making = join(dirname(resolve(folder)), `.${basename(folder)}.making`)
  const entries = await unpack(await loadEmptyDatabase())
  rmSync(making, { recursive: true, force: true })
  mkdirSync(dirname(making), { recursive: true })
  mkdirSync(making, { mode: 0o700 })
  try {
    write(entries, making)
    try {
      renameSync(making, folder)
      return
    } catch (error) {
      if (!isMount(error)) throw error
    }
    write(entries, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

/** Whether renaming failed because the folder is a mounted volume, which cannot be replaced. */
const isMount = (error: unknown): boolean =>
  ['EBUSY', 'ENOTEMPTY', 'EEXIST', 'EXDEV'].includes((error as NodeJS.ErrnoException).code ?? '')

interface Entry {
  name: string
  /** The content of a file; null for a folder. */
  data: Buffer | null
}

/** Writes all entries; `PG_VERSION`, which makes the folder a database, comes last. */
function write(entries: readonly Entry[], folder: string): void {
  const isLast = ({ name }: Entry): boolean => name === version
  for (const { name, data } of [...entries.filter((each) => !isLast(each)), ...entries.filter(isLast)]) {
    const path = join(folder, name)
    if (data === null) mkdirSync(path, { recursive: true })
    else writeFileSync(path, data)
  }
}

const block = 512
const kinds = { file: ['0', '\0'], folder: '5' }

/** Unpacks a gzipped tar of files and folders; any other entry is an error, since nothing may be missing. */
async function unpack(archive: Blob): Promise<Entry[]> {
  const tar: Buffer = await promisify(gunzip)(Buffer.from(await archive.arrayBuffer()))
  const entries: Entry[] = []
  for (let at = 0; tar[at]; ) {
    const text = (from: number, length: number): string =>
      tar.toString('utf8', at + from, at + from + length).split('\0', 1)[0]!
    const kind = tar.toString('latin1', at + 156, at + 157)
    const size = Number.parseInt(text(124, 12), 8)
    const isFile = kinds.file.includes(kind)
    const from = at + block
    if ((!isFile && kind !== kinds.folder) || !(from + size <= tar.length)) {
      throw new Error(
        'The empty database of @electric-sql/pglite-prepopulatedfs cannot be read: install it again',
      )
    }
    const name = join(text(345, 155), text(0, 100)).replace(/^\//, '')
    entries.push({ name, data: isFile ? tar.subarray(from, from + size) : null })
    at = from + Math.ceil(size / block) * block
  }
  return entries
}
