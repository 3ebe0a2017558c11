/** Files of a folder that servers write to, taken along into another. */
import { copyFile, mkdir, readdir, realpath, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface Copied {
  count: number
  bytes: number
}

/** What is written at the moment, and no file yet. */
const unfinished = '.tmp'

/**
 * Those of `from` that `to` has not, or has otherwise; answers all that are there then. What is deleted meanwhile is
 * left out. Nothing where `from` is not there; throws one sentence where `to` is among them.
 */
export async function copyFiles(from: string, to: string): Promise<Copied> {
  const all: Copied = { count: 0, bytes: 0 }
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const path of await filesBelow(from, await realpath(to))) {
    const size = await unlessGone(copied(join(from, path), join(to, path)))
    if (size === null) continue
    all.count += 1
    all.bytes += size
  }
  return all
}

/** Links are followed, as the server follows them; not one that leads back to where it stands. */
async function filesBelow(
  folder: string,
  to: string,
  at = '',
  above: readonly string[] = [],
): Promise<string[]> {
  const here = await unlessGone(realpath(join(folder, at)))
  if (here === null || above.includes(here)) return []
  if (here === to) throw new Error(`${to} lies among the files themselves: name another`)
  const found: string[] = []
  for (const entry of (await unlessGone(readdir(here, { withFileTypes: true }))) ?? []) {
    const path = join(at, entry.name)
    if (path === unfinished) continue
    const kind = entry.isSymbolicLink() ? await unlessGone(stat(join(here, entry.name))) : entry
    if (kind?.isFile()) found.push(path)
    if (kind?.isDirectory()) found.push(...(await filesBelow(folder, to, path, [...above, here])))
  }
  return found
}

async function copied(from: string, to: string): Promise<number> {
  const { size, mtime } = await stat(from)
  const there = await unlessGone(stat(to))
  if (there?.size === size && there.mtimeMs === mtime.getTime()) return size
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await copyFile(from, to)
  await utimes(to, mtime, mtime)
  return size
}

async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
