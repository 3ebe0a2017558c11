/**
 * The migrated embedded database, made once for all runs of what it is made of: its migrations and the queues of the jobs
 * take ten seconds, longer than most files of tests.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'

const root = new URL('../../', import.meta.url).pathname
const folder = join(root, 'node_modules', '.cache', 'merchant-snapshot')

/** What decides what is in it; an app that finds other queues in it than its jobs' makes those that it misses. */
const madeOf = (file: string): boolean =>
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
      .filter((name) => name.endsWith('.ts') && madeOf(name))
    for (const file of files.toSorted()) hash.update(file).update(await readFile(join(root, file)))
  }
  return hash.digest('hex').slice(0, 32)
}

/** Of other branches, and of runs at this moment. */
const kept = 3

/** Where it lies; `make` answers its bytes where nobody has made it yet. */
export async function keptSnapshot(make: () => Promise<Uint8Array>): Promise<string> {
  const file = join(folder, `${await fingerprint()}.tar`)
  if (existsSync(file)) return file
  const bytes = await make()
  await mkdir(folder, { recursive: true })
  const unfinished = `${file}.${process.pid}`
  await writeFile(unfinished, bytes)
  await rename(unfinished, file)
  await forgetOld()
  return file
}

async function forgetOld(): Promise<void> {
  const files = (await readdir(folder)).map((name) => join(folder, name))
  const dated = await Promise.all(files.map(async (file) => ({ file, at: (await stat(file)).mtimeMs })))
  const old = dated.toSorted((a, b) => b.at - a.at).slice(kept)
  for (const { file } of old) await rm(file, { force: true })
}
