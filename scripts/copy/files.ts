/** Files of a folder that servers write to, taken along into another. */
import { copyFile, mkdir, readdir, stat, utimes } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

export interface Copied {
  count: number
  bytes: number
}

/** What is written at the moment, and no file yet. */
const unfinished = '.tmp'

/**
 * Those of `from` that `to` has not, or has otherwise; answers all that are there then. What is deleted meanwhile is
 * left out. Nothing where `from` is not there.
 */
export async function copyFiles(from: string, to: string): Promise<Copied> {
  const all: Copied = { count: 0, bytes: 0 }
  for (const path of await filesBelow(from)) {
    const size = await unlessGone(copied(join(from, path), join(to, path)))
    if (size === null) continue
    all.count += 1
    all.bytes += size
  }
  return all
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = (await unlessGone(readdir(folder, { recursive: true, withFileTypes: true }))) ?? []
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith(unfinished))
    .sort()
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
