/** Copies a folder that servers write to, and computes its checksum. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, readdir, realpath, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export interface Copied {
  count: number
  bytes: number
}

/** The suffix of a file that is being written. */
const unfinished = '.tmp'

/**
 * Copies files of `from` that `to` lacks or that differ; returns the totals of `to`. Skips files deleted meanwhile.
 * Does nothing if `from` does not exist; throws one sentence if `to` is inside it.
 */
export async function copyFiles(from: string, to: string): Promise<Copied> {
  const all: Copied = { count: 0, bytes: 0 }
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const path of await filesBelow(from, await realpath(to))) {
    const size = await ignoreMissing(copyOne(join(from, path), join(to, path)))
    if (size === null) continue
    all.count += 1
    all.bytes += size
  }
  return all
}

/** The number, size and SHA-256 of all files of a folder, over their names and contents; zero files if it is missing. */
export async function digestFiles(folder: string): Promise<Copied & { sha256: string }> {
  const all = createHash('sha256')
  let [count, bytes] = [0, 0]
  for (const path of (await filesBelow(folder, '')).sort()) {
    const file = createHash('sha256')
    await pipeline(createReadStream(join(folder, path)), file)
    all.update(`${path}\n${file.digest('hex')}\n`)
    count += 1
    bytes += (await stat(join(folder, path))).size
  }
  return { count, bytes, sha256: all.digest('hex') }
}

/** Lists all files. Follows links, as the server does, except those that lead back to a parent folder. */
async function filesBelow(
  folder: string,
  to: string,
  at = '',
  above: readonly string[] = [],
): Promise<string[]> {
  const here = await ignoreMissing(realpath(join(folder, at)))
  if (here === null || above.includes(here)) return []
  if (here === to) throw new Error(`${to} is inside the folder of the files itself: name another`)
  const found: string[] = []
  for (const entry of (await ignoreMissing(readdir(here, { withFileTypes: true }))) ?? []) {
    const path = join(at, entry.name)
    if (path === unfinished) continue
    const kind = entry.isSymbolicLink() ? await ignoreMissing(stat(join(here, entry.name))) : entry
    if (kind?.isFile()) found.push(path)
    if (kind?.isDirectory()) found.push(...(await filesBelow(folder, to, path, [...above, here])))
  }
  return found
}

async function copyOne(from: string, to: string): Promise<number> {
  const { size, mtime } = await stat(from)
  const there = await ignoreMissing(stat(to))
  if (there?.size === size && there.mtimeMs === mtime.getTime()) return size
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await copyFile(from, to)
  await utimes(to, mtime, mtime)
  return size
}

async function ignoreMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
