/**
 * The migrated embedded database, cached across runs: migrations and the queues of the jobs take ten seconds, longer
 * than most test files.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'

const root = new URL('../../', import.meta.url).pathname
const folder = join(root, 'node_modules', '.cache', 'merchant-snapshot')

/** Files that determine its content; an app creates missing queues of its own jobs. */
const isInput = (file: string): boolean =>
  file.startsWith(`db${sep}`) ||
  file.startsWith(join('runtime', 'jobs')) ||
  file.startsWith(join('test', 'support')) ||
  file.split(sep).includes('jobs')

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  hash.update(process.version)
  hash.update(await readFile(join(root, 'package-lock.json')))
  for (const layer of ['db', 'runtime', 'operations', 'test']) {
    const names = await readdir(join(root, layer), { recursive: true })
    const files = names
      .map((name) => join(layer, name))
      .filter((name) => name.endsWith('.ts') && isInput(name))
    for (const file of files.toSorted()) hash.update(file).update(await readFile(join(root, file)))
  }
  return hash.digest('hex').slice(0, 32)
}

/** For other branches, and concurrent runs. */
const maxSnapshots = 3

/** The path of the snapshot; `make` creates its bytes if it is missing. */
export async function cachedSnapshot(make: () => Promise<Uint8Array>): Promise<string> {
  const file = join(folder, `${await fingerprint()}.tar`)
  if (existsSync(file)) return file
  const bytes = await make()
  await mkdir(folder, { recursive: true })
  const unfinished = `${file}.${process.pid}`
  await writeFile(unfinished, bytes)
  await rename(unfinished, file)
  await deleteOld()
  return file
}

async function deleteOld(): Promise<void> {
  const files = (await readdir(folder)).map((name) => join(folder, name))
  const dated = await Promise.all(files.map(async (file) => ({ file, at: (await stat(file)).mtimeMs })))
  const old = dated.toSorted((a, b) => b.at - a.at).slice(maxSnapshots)
  for (const { file } of old) await rm(file, { force: true })
}
